import { PATHS } from '../names.js';
import type { Change } from './change.js';
import { removeDirectory } from './directory.js';
import { type HostFacts, needed } from './facts.js';
import { removeFile } from './file.js';
import { difference, type Manifest } from './manifest.js';
import { DAEMON_RELOAD, removeUnit } from './unit.js';
import { removeUser } from './user.js';

/**
 * The changes that take away what the note names and the profile no longer does: a removed tenant's slice is stopped,
 * which ends what ran in it, then its units, files, directories and user go. The new ruleset is loaded by then, and
 * drops whatever of that tenant still ran.
 */
export function planRemoval(noted: Manifest, desired: Manifest, facts: HostFacts): readonly Change[] {
  const gone = difference(noted, desired);
  const place = { kind: 'file', stage: 'removal' } as const;
  const found = (change: Change | null) => (change === null ? [] : [change]);
  return [
    ...inStopOrder(gone.units).flatMap((name) => found(removeUnit(name, needed(facts.units, name)))),
    ...gone.files.flatMap((path) => found(removeFile(path, needed(facts.files, path), place))).map(withReload),
    ...childrenFirst(gone.directories).flatMap((path) => found(removeDirectory(path, needed(facts.files, path)))),
    ...gone.users.flatMap((name) => found(removeUser(name, needed(facts.users, name)))),
  ];
}

/** Confined work ends before the proxy that it talks to, and a socket before its service, which it would start again. */
const STOP_ORDER = ['.slice', '.socket', '.timer', '.service'];

export function inStopOrder(units: readonly string[]): readonly string[] {
  const rank = (name: string) => STOP_ORDER.findIndex((suffix) => name.endsWith(suffix));
  return [...units].sort((a, b) => rank(a) - rank(b));
}

export function childrenFirst(directories: readonly string[]): readonly string[] {
  return [...directories].sort().reverse();
}

function withReload(change: Change): Change {
  if (!change.id.startsWith(`file:${PATHS.units}/`)) return change;
  return { ...change, operations: [...change.operations, DAEMON_RELOAD] };
}
