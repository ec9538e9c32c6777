import { dirname } from 'node:path/posix';
import { PATHS } from '../names.js';
import { type Change, octal, run } from './change.js';
import type { FileFact } from './facts.js';
import { lostBy } from './file.js';

const MODE = 0o755;
/** Only below these is a directory ours; /etc/systemd and its like belong to the system. */
const ROOTS: readonly string[] = [PATHS.library, PATHS.configuration, PATHS.state];

/** The directories of ours that files stand in, parents first. */
export function directoriesOf(paths: readonly string[]): readonly string[] {
  const directories = new Set<string>();
  for (const path of paths) {
    for (let parent = dirname(path); isOurs(parent); parent = dirname(parent)) directories.add(parent);
  }
  return [...directories].sort();
}

function isOurs(path: string): boolean {
  return ROOTS.some((root) => path === root || path.startsWith(`${root}/`));
}

/** The change that makes a directory root's own, writable by root alone; null where it is so already. */
export function compareDirectory(path: string, fact: FileFact): Change | null {
  const differences = directoryDifferences(fact);
  if (differences === null) return null;
  const undo =
    fact.kind === 'directory'
      ? restore(path, fact)
      : [run(['rmdir', '--ignore-fail-on-non-empty', '--', path], { accept: [1] })];
  const inTheWay = fact.kind === 'file' || fact.kind === 'other';
  return {
    id: `directory:${path}`,
    kind: 'directory',
    // The note of what is ours stands in the state folder, and is written first of all files.
    stage: path === PATHS.state ? 'note' : 'directories',
    summary: `${fact.kind === 'absent' ? 'create' : 'mend'} ${path}/ (${differences})`,
    diff: null,
    operations: [
      ...(inTheWay ? [run(['rm', '-f', '--', path])] : []),
      run(['install', '-d', '-m', octal(MODE), '-o', 'root', '-g', 'root', '--', path]),
    ],
    undo,
    settle: [],
    kept: inTheWay ? lostBy(path, fact, false) : [],
  };
}

function directoryDifferences(fact: FileFact): string | null {
  switch (fact.kind) {
    case 'absent':
      return `${octal(MODE)} root:root`;
    case 'file':
      return 'a file stands in its place';
    case 'other':
      return `a ${fact.type} stands in its place`;
    case 'directory': {
      const is = `${octal(fact.mode)} ${fact.owner}:${fact.group}`;
      const shall = `${octal(MODE)} root:root`;
      return is === shall ? null : `${is} to ${shall}`;
    }
  }
}

function restore(path: string, fact: Extract<FileFact, { kind: 'directory' }>) {
  return [run(['install', '-d', '-m', octal(fact.mode), '-o', fact.owner, '-g', fact.group, '--', path])];
}

/** The change that takes away a directory of ours that the profile no longer needs; a foreign file in it keeps it. */
export function removeDirectory(path: string, fact: FileFact): Change | null {
  if (fact.kind !== 'directory') return null;
  return {
    id: `directory:${path}`,
    kind: 'directory',
    stage: 'removal',
    summary: `remove ${path}/ if it is empty`,
    diff: null,
    operations: [run(['rmdir', '--ignore-fail-on-non-empty', '--', path], { accept: [1] })],
    undo: restore(path, fact),
    settle: [],
    kept: [],
  };
}
