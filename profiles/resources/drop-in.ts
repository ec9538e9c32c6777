import { basename, dirname } from 'node:path/posix';
import { type Change, run } from './change.js';
import { needed, type UnitFact } from './facts.js';

/** systemd reads only `*.conf` (systemd.unit(5)), so a file of this name changes nothing and is still there to look at. */
const SET_ASIDE = '.set-aside';

/**
 * The changes that set foreign drop-ins of units of ours aside: `IPAddressAllow=any` in one opens the slice while the
 * unit's own file is untouched. Drop-ins for all units of a type belong to the system and stay.
 */
export function setAsideDropIns(units: readonly string[], facts: ReadonlyMap<string, UnitFact>): readonly Change[] {
  const paths = units.flatMap((name) => needed(facts, name).dropIns.filter((path) => isFor(name, path)));
  // One for `watertight-.slice` is a drop-in of every slice of ours.
  return [...new Set(paths)].map(setAside);
}

/** For the unit itself (`NAME.d`), or for all whose name begins alike (`watertight-.slice.d`). */
function isFor(name: string, path: string): boolean {
  const folder = basename(dirname(path));
  return folder === `${name}.d` || folder.startsWith('watertight');
}

function setAside(path: string): Change {
  const aside = `${path}${SET_ASIDE}`;
  return {
    id: `drop-in:${path}`,
    kind: 'unit',
    stage: 'files',
    summary: `set aside ${path}`,
    diff: null,
    operations: [run(['mv', '-fT', '--', path, aside])],
    // Where it was never set aside there is nothing to bring back (status 1).
    undo: [run(['mv', '-fT', '--', aside, path], { accept: [1] })],
    settle: [],
    kept: [],
  };
}
