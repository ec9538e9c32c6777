import type { ProfileFile } from '../profile.js';
import { type Change, type ChangeKind, type Operation, octal, run, type Stage } from './change.js';
import type { FileFact } from './facts.js';
import { unifiedDiff } from './unified-diff.js';

type Placed = Extract<FileFact, { kind: 'file' }>;

/** Where in the order a file belongs, and as what it is shown. */
export interface Place {
  readonly kind: ChangeKind;
  readonly stage: Stage;
}

/** The change that makes a file what the profile says; null where it is so already. */
export function compareFile(fact: FileFact, desired: ProfileFile, place: Place): Change | null {
  const content = Buffer.from(desired.content, 'utf8');
  const differences = fileDifferences(fact, desired, content);
  if (differences.length === 0) return null;
  const before = fact.kind === 'file' ? fact.content : null;
  const verb = fact.kind === 'absent' ? 'create' : 'mend';
  return {
    id: `${place.kind}:${desired.path}`,
    ...place,
    summary: `${verb} ${desired.path} (${differences.join(', ')})`,
    diff: unifiedDiff(desired.path, before, content),
    operations: placeFile(fact, desired, content),
    undo: [putBack(desired.path, fact)],
    settle: [],
    kept: lostBy(desired.path, fact, isKept(fact)),
  };
}

/** Only what differs is said; for a file that is not there, what it will be. */
function fileDifferences(fact: FileFact, desired: ProfileFile, content: Buffer): readonly string[] {
  const ownership = `${desired.owner}:${desired.group}`;
  if (fact.kind === 'absent') return [`${octal(desired.mode)} ${ownership}`];
  if (fact.kind === 'directory') return ['a directory stands in its place'];
  if (fact.kind === 'other') return [`a ${fact.type} stands in its place`];
  const differences: string[] = [];
  if (fact.content === null || !fact.content.equals(content)) differences.push('content');
  if (fact.mode !== desired.mode) differences.push(`mode ${octal(fact.mode)} to ${octal(desired.mode)}`);
  const owner = `${fact.owner}:${fact.group}`;
  if (owner !== ownership) differences.push(`owner ${owner} to ${ownership}`);
  return differences;
}

function placeFile(fact: FileFact, desired: ProfileFile, content: Buffer): readonly Operation[] {
  const { path, mode, owner, group, check } = desired;
  const write: Operation = { do: 'write', path, content, mode, owner, group, ...(check ? { check } : {}) };
  // A rename replaces a file or a link, but not a directory; rmdir takes only an empty one, so nothing foreign is lost.
  return fact.kind === 'directory' ? [run(['rmdir', '--', path]), write] : [write];
}

/** The change that takes a file away that was ours and is no longer in the profile; null where it is gone. */
export function removeFile(path: string, fact: FileFact, place: Place): Change | null {
  if (fact.kind === 'absent' || fact.kind === 'directory') return null;
  return {
    id: `${place.kind}:${path}`,
    ...place,
    summary: `remove ${path}`,
    diff: fact.kind === 'file' && fact.content !== null ? unifiedDiff(path, fact.content, null) : null,
    operations: [run(['rm', '-f', '--', path])],
    undo: [putBack(path, fact)],
    settle: [],
    kept: lostBy(path, fact, isKept(fact)),
  };
}

/** What puts a path back as it was: a link or a device in our place was damage, and is not put back. */
export function putBack(path: string, fact: FileFact): Operation {
  return isKept(fact)
    ? { do: 'write', path, content: fact.content, mode: fact.mode, owner: fact.owner, group: fact.group }
    : run(['rm', '-f', '--', path]);
}

/** What stood at a path and is not put back, in words; nothing where there was nothing, or where it was kept. */
export function lostBy(path: string, fact: FileFact, isKept: boolean): readonly string[] {
  if (fact.kind === 'absent' || isKept) return [];
  return [`the ${fact.kind === 'other' ? fact.type : fact.kind} that stood at ${path} is not put back`];
}

/** Whether it can be put back: its content was read. */
export function isKept(fact: FileFact): fact is Placed & { content: Buffer } {
  return fact.kind === 'file' && fact.content !== null;
}
