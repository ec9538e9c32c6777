import type { ProfileFile } from '../profile.js';
import { type Change, run } from './change.js';
import { type HostFacts, needed } from './facts.js';
import { compareFile, isKept, lostBy, putBack } from './file.js';
import type { Manifest } from './manifest.js';
import { installedRulesetHolds } from './ruleset.js';

const GRANT = { kind: 'permission', stage: 'permission' } as const;

/**
 * Adds the changes of permissions to launch. Where anything else changes, every permission that stands is withdrawn
 * first and given last, so that nobody launches into a host that is being rebuilt.
 */
export function withPermissions(
  changes: readonly Change[],
  desired: readonly ProfileFile[],
  noted: Manifest,
  facts: HostFacts,
): readonly Change[] {
  const wanted = new Set(desired.map(({ path }) => path));
  const standing = [...new Set([...noted.permissions, ...wanted])].filter(
    (path) => needed(facts.files, path).kind !== 'absent',
  );
  const withdrawn = standing.filter((path) => changes.length > 0 || !wanted.has(path));
  const grants = desired.flatMap((file) => {
    if (!withdrawn.includes(file.path)) return compareFile(needed(facts.files, file.path), file, GRANT) ?? [];
    const grant = compareFile({ kind: 'absent' }, file, GRANT);
    return grant === null ? [] : { ...grant, summary: `give the permission ${file.path} back` };
  });
  return [...withdrawn.map((path) => withdraw(path, facts)), ...changes, ...grants];
}

/** Permission comes back with an undone run only where the host was contained before it. */
function withdraw(path: string, facts: HostFacts): Change {
  const fact = needed(facts.files, path);
  const held = installedRulesetHolds(facts);
  return {
    id: `withdraw:${path}`,
    kind: 'permission',
    stage: 'withdraw',
    summary: `withdraw the permission ${path}`,
    diff: null,
    operations: [run(['rm', '-f', '--', path])],
    undo: [],
    settle: held ? [putBack(path, fact)] : [],
    kept: held
      ? lostBy(path, fact, isKept(fact))
      : [`the permission ${path} stays withdrawn, since the ruleset did not hold before this run`],
  };
}
