import { PARENT_SLICE, PATHS, RULESET_UNIT, TABLE } from '../profiles/names.js';
import {
  absent,
  cannotTell,
  type Judgement,
  matchOf,
  type Outputs,
  present,
  provisionFix,
  type Question,
  unclear,
} from './question.js';

const SHA256 = /^\\?([0-9a-f]{64}) /;

/** What `found` says of a program that has this controller's version and another content. */
export const CHANGED = 'changed';

const bundle: Question = {
  id: 'bundle',
  question: 'Is the installed watertight the one that this controller would install?',
  neededFor: ['verify'],
  fix: provisionFix,
  look: `sha256sum ${PATHS.bundle}`,
  judge(outputs, { bundleDigest, version }) {
    const output = outputs.get('digest');
    if (output?.kind === 'no-file') return absent('', 'watertight is not installed');
    const digest = matchOf(output, SHA256)?.[1];
    if (digest === undefined) return unclear('sha256sum', output);
    if (bundleDigest === null)
      return cannotTell('this controller has no host program beside it to compare with', '', () => 'npm run build');
    if (digest === bundleDigest) return present(version, 'the installed watertight is the one of this controller');
    // scripts/build.mjs writes the version into the second line.
    const installed = matchOf(outputs.get('head'), /^.*\n\/\/ watertight (\S{1,40})/)?.[1];
    if (installed === version)
      return absent(CHANGED, `the installed watertight calls itself ${version} and is not: it was changed`);
    return absent(
      installed ?? 'unknown',
      `another version of watertight is installed than the ${version} of this controller`,
    );
  },
};

const profile: Question = {
  id: 'profile',
  question: 'Is there a profile?',
  neededFor: ['verify'],
  fix: provisionFix,
  look: `sha256sum ${PATHS.profile}`,
  judge(outputs) {
    const output = outputs.get('digest');
    if (output?.kind === 'no-file') return absent('', `${PATHS.profile} is not there`);
    const digest = matchOf(output, SHA256)?.[1];
    return digest === undefined ? unclear('sha256sum', output) : present(digest.slice(0, 12), 'a profile is installed');
  },
};

function judgeUnits(outputs: Outputs): Judgement {
  for (const [key, unit] of [
    ['slice', PARENT_SLICE],
    ['ruleset', RULESET_UNIT],
  ] as const) {
    const output = outputs.get(key);
    const state = matchOf(output, /^LoadState=([a-z-]+)$/)?.[1];
    if (state === undefined) return unclear('systemctl', output);
    if (state !== 'loaded') return absent(state, `${unit} is ${state}`);
  }
  return present('', "watertight's units are there");
}

const units: Question = {
  id: 'units',
  question: "Are watertight's units there?",
  neededFor: ['verify'],
  provenByClaims: true,
  fix: provisionFix,
  look: `systemctl show --property=LoadState ${PARENT_SLICE}`,
  judge: judgeUnits,
};

const ruleset: Question = {
  id: 'ruleset',
  question: "Is watertight's table loaded?",
  neededFor: ['verify'],
  provenByClaims: true,
  fix: provisionFix,
  look: 'nft list tables inet',
  judge(outputs) {
    const version = outputs.get('version');
    const tables = outputs.get('tables');
    if (version?.kind === 'no-tool') return { ...unclear('nft', version), fix: provisionFix };
    // An empty list counts only from an nft that is one.
    if (matchOf(version, /^nftables v\d/) === null) return unclear('nft', version);
    const list = matchOf(tables, /^(?:table inet \S+(?:\n|$))*$/)?.[0];
    if (list === undefined) return unclear('nft', tables);
    const loaded = list.split('\n').includes(`table inet ${TABLE}`);
    return loaded ? present('', 'the table is loaded') : absent('', `table inet ${TABLE} is not loaded`);
  },
};

/** What provision puts on a host. */
export const INSTALLATION_QUESTIONS: readonly Question[] = [bundle, profile, units, ruleset];
