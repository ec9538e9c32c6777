import { readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { places, readOr } from './cgroup.js';
import type { Machine } from './machine.js';

/** Ends every process of a lab (or of one host of it) and removes the cgroups. Nothing to do is no error. */
export async function removeCgroups(machine: Machine, ...parts: readonly [string, ...string[]]): Promise<void> {
  const all = places(machine, ...parts);
  for (const directory of all) await removeTree(directory);
  // The parent of all labs goes with the last one.
  for (const parent of places(machine)) await rmdir(parent).catch(() => {});
}

const ATTEMPTS = 100;

async function removeTree(directory: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const below = await descendants(directory);
    if (below === null) return;
    await killTree(directory, below);
    for (const each of [...below, directory]) await rmdir(each).catch(() => {});
    if ((await descendants(directory)) === null) return;
    // A process that was killed holds its cgroup until it is reaped.
    await delay(50);
  }
  throw new Failure(`${directory} still has processes that do not end`, EXIT.couldNotTell);
}

/** Deepest first; null where the directory is not there. */
async function descendants(directory: string): Promise<string[] | null> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const path = join(directory, entry.name);
    found.push(...((await descendants(path)) ?? []), path);
  }
  return found;
}

/** Since Linux 5.14 one write kills a whole tree at once, forks included; version 1 has no such file. */
async function killTree(directory: string, below: readonly string[]): Promise<void> {
  const atOnce = await writeFile(join(directory, 'cgroup.kill'), '1', { flag: 'r+' }).then(
    () => true,
    () => false,
  );
  if (atOnce) return;
  for (const each of [directory, ...below]) {
    for (const pid of (await readOr(join(each, 'cgroup.procs'), '')).split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It ended by itself in between.
      }
    }
  }
}
