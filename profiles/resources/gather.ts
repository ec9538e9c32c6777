import { PATHS } from '../names.js';
import type { RenderedHost } from '../profile.js';
import { LISTING_FUNCTIONS } from '../ruleset-state.js';
import gatherScript from './gather.sh';
import { MANIFEST, manifestOf } from './manifest.js';
import { PACKAGES_BEFORE, PACKAGES_NOTE } from './package.js';

/** What to read from a host. */
export interface FactsQuery {
  /** Paths of files and directories. */
  readonly files: readonly string[];
  readonly users: readonly string[];
  readonly units: readonly string[];
  /** The profile's ruleset, to be listed from a scratch namespace; null: none. */
  readonly ruleset: string | null;
}

/** Everything that a plan for this profile needs to know; what an earlier run noted is read with it. */
export function factsQuery(rendered: RenderedHost): FactsQuery {
  const { files, directories, permissions, users, units } = manifestOf(rendered);
  return {
    files: [...files, ...directories, ...permissions, MANIFEST, PACKAGES_NOTE, PACKAGES_BEFORE],
    users,
    units: [...new Set([...rendered.units.map(({ name }) => name), ...units])],
    ruleset: rendered.files.find(({ path }) => path === PATHS.ruleset)?.content ?? null,
  };
}

/**
 * The program and script that read a host's facts; run it as root and hand its stdout to `parseFacts`.
 * Names travel as arguments and the ruleset as base64, so nothing is ever quoted.
 * @param nonce letters and digits that frame the answers
 */
export function factsRequest(query: FactsQuery, nonce: string) {
  const subjects = [
    ...query.files.flatMap((path) => ['file', path]),
    ...query.users.flatMap((name) => ['user', name]),
    ...query.units.flatMap((name) => ['unit', name]),
  ];
  const desired = Buffer.from(query.ruleset ?? '', 'utf8').toString('base64');
  return {
    command: ['/bin/sh', '-s', '--', nonce, MANIFEST, ...subjects] as readonly [string, ...string[]],
    input: `${LISTING_FUNCTIONS}\nDESIRED='${desired}'\n${gatherScript}`,
  };
}
