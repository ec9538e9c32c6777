import { PATHS, TABLE } from '../names.js';
import type { RenderedHost } from '../profile.js';
import { type Change, type Operation, run, type Stage } from './change.js';
import { type HostFacts, needed } from './facts.js';
import { removeFile } from './file.js';
import { type FactsQuery, factsQuery } from './gather.js';
import { MANIFEST, type Manifest, manifestOf, union } from './manifest.js';
import { PACKAGES_NOTE } from './package.js';
import { notedOn } from './plan.js';
import { childrenFirst, inStopOrder } from './removal.js';
import removeScript from './remove-packages.sh';
import { deleteTable } from './ruleset.js';
import { STAGING, TRANSACTION } from './state-paths.js';
import { DAEMON_RELOAD, removeUnit } from './unit.js';
import { removeUser } from './user.js';

const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]+$/;
const PURGE_MS = 10 * 60_000;

/** What runs leave in the state folder, besides the note of packages. */
const STATE = [MANIFEST, STAGING, TRANSACTION] as const;

/** What has to be read before a host can be taken back to what it was. */
export function deprovisionQuery(rendered: RenderedHost): FactsQuery {
  const query = factsQuery(rendered);
  return { ...query, files: [...query.files, PATHS.run, ...STATE], ruleset: null };
}

/**
 * What takes everything of ours from a host, in this order: permission to launch, confined work, the proxies, the rules,
 * then files and users, and last the packages that provision brought. What the note on the host names goes, and what
 * the profile would put there.
 */
export function planDeprovision(
  rendered: RenderedHost,
  facts: HostFacts,
  options: { readonly keepPackages: boolean },
): readonly Change[] {
  const ours = union(notedOn(facts), manifestOf(rendered));
  const found = (change: Change | null) => (change === null ? [] : [change]);
  return [
    ...ours.permissions.flatMap((path) =>
      found(removeFile(path, needed(facts.files, path), { kind: 'permission', stage: 'withdraw' })),
    ),
    ...inStopOrder(ours.units).flatMap((name) => found(removeUnit(name, needed(facts.units, name)))),
    ...found(removeTable(facts)),
    ...removeFiles(ours, facts),
    ...ours.users.flatMap((name) => found(removeUser(name, needed(facts.users, name)))),
    ...(options.keepPackages ? [] : found(removePackages(facts))),
    ...found(options.keepPackages && isNoted(facts) ? removeAllButNote(facts) : removeState(facts)),
  ].map(withoutUndo);
}

function removeTable({ ruleset }: HostFacts): Change | null {
  if (ruleset.live.kind !== 'listed') return null;
  return removal(`ruleset:${TABLE}`, 'ruleset', `delete table inet ${TABLE}`, [deleteTable()]);
}

function removeFiles(ours: Manifest, facts: HostFacts): readonly Change[] {
  const place = { kind: 'file', stage: 'removal' } as const;
  const files = ours.files.flatMap((path) => removeFile(path, needed(facts.files, path), place) ?? []);
  const units = files.some(({ id }) => id.startsWith(`file:${PATHS.units}/`));
  const forget: readonly Change[] = units
    ? [
        removal('unit:daemon-reload', 'unit', 'systemctl daemon-reload (unit files go)', [
          DAEMON_RELOAD,
          // A unit that failed stays listed without its file; one that did not fail is unknown by now (status 1).
          ...ours.units.map((name) => run(['systemctl', 'reset-failed', '--', name], { accept: [1] })),
        ]),
      ]
    : [];
  // The state goes in one piece at the very end, since it holds the note of the packages.
  const directories = childrenFirst(ours.directories).filter((path) => !path.startsWith(PATHS.state));
  return [...files, ...forget, ...directories.flatMap((path) => removeTree(path, facts) ?? [])];
}

/** What an operator has put into a folder of ours goes with it: the folder is ours. */
function removeTree(path: string, facts: HostFacts): Change | null {
  if (needed(facts.files, path).kind === 'absent') return null;
  return removal(`directory:${path}`, 'directory', `remove ${path}/`, [run(['rm', '-rf', '--', path])]);
}

function removePackages(facts: HostFacts): Change | null {
  const names = notedPackages(facts).filter((name) => facts.packages.has(name));
  if (names.length === 0) return null;
  const operation: Operation = {
    do: 'run',
    command: ['/bin/sh', '-s', '--', ...names],
    input: removeScript,
    deadlineMs: PURGE_MS,
    progress: true,
  };
  return removal('package:noted', 'package', `remove ${names.join(' ')}`, [operation]);
}

/** Packages that provision brought to the host, by its note. */
export function notedPackages(facts: HostFacts): readonly string[] {
  const fact = needed(facts.files, PACKAGES_NOTE);
  if (fact.kind !== 'file' || fact.content === null) return [];
  return fact.content
    .toString('utf8')
    .split('\n')
    .filter((name) => PACKAGE_NAME.test(name));
}

function removeState(facts: HostFacts): Change | null {
  const standing = [PATHS.state, PATHS.run].filter((path) => needed(facts.files, path).kind !== 'absent');
  const [first, ...others] = standing;
  if (first === undefined) return null;
  const operation = run(['rm', '-rf', '--', first, ...others]);
  return removal(`directory:${PATHS.state}`, 'directory', `remove ${standing.join('/ ')}/`, [operation]);
}

function isNoted(facts: HostFacts): boolean {
  return needed(facts.files, PACKAGES_NOTE).kind !== 'absent';
}

/** Packages that stay are still noted, so that a later deprovision can take them away. */
function removeAllButNote(facts: HostFacts): Change | null {
  const standing = [...STATE, PATHS.run].filter((path) => needed(facts.files, path).kind !== 'absent');
  const [first, ...others] = standing;
  if (first === undefined) return null;
  const operation = run(['rm', '-rf', '--', first, ...others]);
  return removal(`directory:${PATHS.state}`, 'directory', `remove ${standing.join(' ')}`, [operation]);
}

function removal(id: string, kind: Change['kind'], summary: string, operations: readonly Operation[]): Change {
  const stage: Stage = 'removal';
  return { id, kind, stage, summary, diff: null, operations, undo: [], settle: [], kept: [] };
}

/** Nothing of this is taken back: it goes on where it was cut off. */
function withoutUndo(change: Change): Change {
  return { ...change, undo: [], settle: [], kept: [] };
}
