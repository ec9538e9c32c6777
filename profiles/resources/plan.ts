import { PATHS, RULESET_UNIT } from '../names.js';
import type { ProfileFile, RenderedHost } from '../profile.js';
import { type Bundle, compareBundle } from './bundle.js';
import { type Change, inOrder } from './change.js';
import { compareDirectory } from './directory.js';
import { setAsideDropIns } from './drop-in.js';
import { type HostFacts, needed } from './facts.js';
import { compareFile } from './file.js';
import { formatManifest, MANIFEST, type Manifest, manifestOf, parseManifest, union } from './manifest.js';
import { comparePackages } from './package.js';
import { withPermissions } from './permission.js';
import { planRemoval } from './removal.js';
import { compareRuleset } from './ruleset.js';
import { compareSystemd, compareUnit } from './unit.js';
import { compareUser } from './user.js';

export type Plan =
  | { readonly kind: 'plan'; readonly changes: readonly Change[] }
  /** Something on the host must be settled by a person first. */
  | { readonly kind: 'conflict'; readonly reasons: readonly string[] };

/**
 * What makes a host what its profile says, in the order in which it may be done. Pure: the same facts give the same plan.
 * @throws Error where a fact that it needs was not read: an unread state is never taken for "absent"
 */
export function planProvision(rendered: RenderedHost, bundle: Bundle, facts: HostFacts): Plan {
  const noted = notedOn(facts);
  const users = rendered.users.map((user) =>
    compareUser(needed(facts.users, user.name), user, noted.users.includes(user.name)),
  );
  const reasons = users.flatMap((answer) => (answer.kind === 'conflict' ? [answer.reason] : []));
  if (reasons.length > 0) return { kind: 'conflict', reasons };

  const desired = manifestOf(rendered);
  const files = compareFiles(rendered, bundle, facts);
  const changed = new Set(files.map(({ id }) => id.slice(id.indexOf(':') + 1)));
  const dropIns = setAsideDropIns(desired.units, facts.units);
  const changes = [
    ...found(comparePackages(facts.packages, rendered.packages)),
    ...users.flatMap((answer) => (answer.kind === 'change' ? [answer.change] : [])),
    ...desired.directories.flatMap((path) => found(compareDirectory(path, needed(facts.files, path)))),
    ...files,
    ...dropIns,
    ...found(compareSystemd(dropIns.length > 0 ? 'drop-ins go' : reloadReason(rendered, facts, changed))),
    ...compareUnits(rendered, facts, changed),
    ...found(compareRuleset(facts, needed(facts.files, PATHS.ruleset))),
    ...planRemoval(noted, desired, facts),
    ...planNotes(noted, desired, facts),
  ];
  return { kind: 'plan', changes: inOrder(withPermissions(changes, rendered.permissions, noted, facts)) };
}

/** What an earlier run noted on this host. */
export function notedOn(facts: HostFacts): Manifest {
  const fact = needed(facts.files, MANIFEST);
  return parseManifest(fact.kind === 'file' ? fact.content : null);
}

function compareFiles(rendered: RenderedHost, bundle: Bundle, facts: HostFacts): readonly Change[] {
  const place = { kind: 'file', stage: 'files' } as const;
  return [
    ...found(compareBundle(needed(facts.files, PATHS.bundle), bundle)),
    ...rendered.files.flatMap((file) => found(compareFile(needed(facts.files, file.path), file, place))),
  ];
}

function reloadReason(rendered: RenderedHost, facts: HostFacts, changed: ReadonlySet<string>): string | null {
  if ([...changed].some((path) => path.startsWith(`${PATHS.units}/`))) return 'unit files change';
  const stale = rendered.units.filter(({ name }) => needed(facts.units, name).needDaemonReload);
  return stale.length > 0 ? `${stale.map(({ name }) => name).join(' ')} changed on disk` : null;
}

function compareUnits(rendered: RenderedHost, facts: HostFacts, changed: ReadonlySet<string>): readonly Change[] {
  return rendered.units.flatMap((unit) => {
    // The ruleset is compared by what is loaded, so a changed file is no reason of its own to load it again.
    const desired = unit.name === RULESET_UNIT ? { ...unit, onChange: [] } : unit;
    return found(compareUnit(needed(facts.units, unit.name), desired, changed));
  });
}

/** While things change, the note names what was ours and what will be; in the end, what is. */
function planNotes(noted: Manifest, desired: Manifest, facts: HostFacts): readonly Change[] {
  const fact = needed(facts.files, MANIFEST);
  const during = note(formatManifest(union(noted, desired)));
  const after = note(formatManifest(desired));
  const first = found(compareFile(fact, during, { kind: 'note', stage: 'note' }));
  if (during.content === after.content) return first;
  const standing = { ...compareBase(during), content: Buffer.from(during.content) };
  return [...first, ...found(compareFile(standing, after, { kind: 'note', stage: 'settle-note' }))];
}

function compareBase({ mode, owner, group }: ProfileFile) {
  return { kind: 'file', mode, owner, group, sha256: '' } as const;
}

function note(content: string): ProfileFile {
  return { path: MANIFEST, content, mode: 0o644, owner: 'root', group: 'root' };
}

function found<T>(change: T | null): readonly T[] {
  return change === null ? [] : [change];
}
