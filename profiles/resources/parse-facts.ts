import { readListings } from '../ruleset-state.js';
import type { FileFact, HostFacts, UnitFact, UserFact } from './facts.js';

export type FactsAnswer =
  | { readonly kind: 'facts'; readonly facts: HostFacts }
  | { readonly kind: 'error'; readonly reason: string };

class Unreadable extends Error {}

/** Reads the framed answers of the gather script. Anything missing or malformed is an error, never "absent". */
export function parseFacts(stdout: string, nonce: string): FactsAnswer {
  const records = stdout
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([mark]) => mark === nonce)
    .map(([, ...fields]) => fields);
  try {
    return { kind: 'facts', facts: readRecords(records, stdout, nonce) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: 'error', reason: error.message };
  }
}

function readRecords(records: readonly string[][], stdout: string, nonce: string): HostFacts {
  const last = records.at(-1);
  if (last?.[0] !== 'end' || last[1] !== 'ok') throw new Unreadable('the answer of the host is not complete');
  const listings = readListings(stdout, nonce);
  const live = listings.get('live');
  if (live === undefined) throw new Unreadable('the host did not say how the ruleset stands');
  return {
    files: collect(records, 'file', readFile),
    users: collect(records, 'user', readUser),
    units: readUnits(single(records, 'units')),
    packages: readPackages(single(records, 'packages')),
    ruleset: { live, desired: listings.get('desired') ?? null, installed: listings.get('installed') ?? null },
  };
}

function collect<T>(records: readonly string[][], kind: string, read: (name: string, fields: string[]) => T) {
  const facts = new Map<string, T>();
  for (const [recordKind, name, ...fields] of records) {
    if (recordKind === kind && name !== undefined) facts.set(name, read(name, fields));
  }
  return facts;
}

function readFile(path: string, [state, meta, digest, content]: string[]): FileFact {
  if (state === 'absent') return { kind: 'absent' };
  if (state !== 'present' || meta === undefined) throw new Unreadable(`cannot read ${path}: ${decode(meta)}`);
  const match = /^([a-z -]+)\|([0-7]{1,5})\|([^|]+)\|(\d+)\|([^|]+)\|(\d+)\|(\d+)$/.exec(meta);
  if (match === null) throw new Unreadable(`cannot read the state of ${path}`);
  const [, type = '', mode = '', user = '', uid = '', group = '', gid = '', size = ''] = match;
  // stat(1) says UNKNOWN of an owner that has no name any more; the number can be put back.
  const name = (word: string, number: string) => (word === 'UNKNOWN' ? number : word);
  const common = { mode: Number.parseInt(mode, 8), owner: name(user, uid), group: name(group, gid) };
  if (type === 'directory') return { kind: 'directory', ...common };
  if (!type.startsWith('regular')) return { kind: 'other', type };
  if (digest === undefined || !/^[0-9a-f]{64}$/.test(digest)) throw new Unreadable(`no digest of ${path}`);
  const bytes = Buffer.from(content ?? '', 'base64');
  return { kind: 'file', ...common, sha256: digest, content: bytes.length === Number(size) ? bytes : null };
}

function readUser(name: string, [state, line, groups]: string[]): UserFact {
  if (state === 'absent') return { kind: 'absent' };
  if (state !== 'present') throw new Unreadable(`cannot tell whether the user ${name} exists`);
  const [entry, , uid = '', gid = '', comment, home, shell] = decode(line).trim().split(':');
  if (entry !== name || !/^\d+$/.test(uid) || !/^\d+$/.test(gid) || shell === undefined) {
    throw new Unreadable(`the passwd entry of ${name} is malformed`);
  }
  return {
    kind: 'present',
    uid: Number(uid),
    gid: Number(gid),
    comment: comment ?? '',
    home: home ?? '',
    shell,
    groups: decode(groups).split(/\s+/).filter(Boolean),
  };
}

/** Blocks of `Key=Value` lines, one a unit, each beginning with its Id. */
function readUnits([status, text]: string[]): ReadonlyMap<string, UnitFact> {
  if (status !== '0') throw new Unreadable(`systemd does not answer: ${firstLine(decode(text))}`);
  const units = new Map<string, UnitFact>();
  for (const block of decode(text).split(/^(?=Id=)/m)) {
    const properties = new Map(block.split('\n').map((line) => splitOnce(line, '=')));
    const id = properties.get('Id');
    if (id === undefined) continue;
    units.set(id, {
      loadState: properties.get('LoadState') ?? '',
      activeState: properties.get('ActiveState') ?? '',
      unitFileState: properties.get('UnitFileState') ?? '',
      needDaemonReload: properties.get('NeedDaemonReload') === 'yes',
      dropIns: (properties.get('DropInPaths') ?? '').split(' ').filter(Boolean),
    });
  }
  return units;
}

function readPackages([status, text]: string[]): ReadonlyMap<string, string> {
  if (status !== '0') throw new Unreadable(`dpkg-query does not answer: ${firstLine(decode(text))}`);
  const packages = new Map<string, string>();
  for (const line of decode(text).split('\n')) {
    const [name, state, version] = line.split('\t');
    // "ii": wanted and installed; a hold ("hi") is installed too.
    if (name !== undefined && version !== undefined && /^.i/.test(state ?? '')) packages.set(name, version);
  }
  return packages;
}

function single(records: readonly string[][], kind: string): string[] {
  const record = records.find(([recordKind]) => recordKind === kind);
  if (record === undefined) throw new Unreadable(`the host did not answer about its ${kind}`);
  return record.slice(1);
}

function splitOnce(line: string, separator: string): [string, string] {
  const at = line.indexOf(separator);
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

function decode(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64').toString('utf8');
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.trim().slice(0, 200) ?? '';
}
