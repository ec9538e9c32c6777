import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import type { Machine } from './machine.js';
import { CGROUP } from './names.js';

/** What one host may use of the machine. */
const MEMORY_BYTES = 2 * 1024 ** 3;
const MAX_TASKS = 4096;

/** The cgroups of one host. */
export interface HostCgroups {
  /** In the unified hierarchy; holds `supervisor` and, while the host runs, `payload`, which the host sees as its root. */
  readonly unified: string;
  /** Version 1 cgroups that cap it, on a hybrid machine. */
  readonly caps: readonly string[];
}

/** The lab's cgroup, or a part of it, in every hierarchy, the unified one first. */
function places(machine: Machine, ...parts: readonly string[]): readonly string[] {
  return [machine.cgroup2, ...Object.values(machine.capHierarchies)].map((root) => join(root, CGROUP, ...parts));
}

/** The cgroup in which a lab builds its images. */
export async function makeBuildCgroup(machine: Machine, lab: string): Promise<string> {
  const directory = join(machine.cgroup2, CGROUP, lab, 'build');
  await mkdir(directory, { recursive: true });
  return directory;
}

export function hostCgroups(machine: Machine, lab: string, host: string): HostCgroups {
  const [unified = '', ...caps] = places(machine, lab, host);
  return { unified, caps };
}

/** Makes a host's cgroups, with their limits. */
export async function makeHostCgroups(machine: Machine, lab: string, host: string): Promise<HostCgroups> {
  const made = hostCgroups(machine, lab, host);
  for (const directory of [join(made.unified, 'supervisor'), ...made.caps]) await mkdir(directory, { recursive: true });
  const { memory, pids } = machine.capHierarchies;
  const delegated = await delegate(machine, lab);
  if (memory) await writeFile(join(memory, CGROUP, lab, host, 'memory.limit_in_bytes'), String(MEMORY_BYTES));
  else if (delegated.has('memory')) await writeFile(join(made.unified, 'memory.max'), String(MEMORY_BYTES));
  if (pids) await writeFile(join(pids, CGROUP, lab, host, 'pids.max'), String(MAX_TASKS));
  else if (delegated.has('pids')) await writeFile(join(made.unified, 'pids.max'), String(MAX_TASKS));
  for (const controller of delegated) await writeFile(join(made.unified, 'cgroup.subtree_control'), `+${controller}`);
  return made;
}

/** Hands the unified hierarchy's controllers down to the lab's hosts, as far as the machine has them there. */
async function delegate(machine: Machine, lab: string): Promise<ReadonlySet<string>> {
  const available = (await readFile(join(machine.cgroup2, 'cgroup.controllers'), 'utf8')).trim().split(/\s+/);
  const wanted = ['memory', 'pids', 'cpu', 'io'].filter((controller) => available.includes(controller));
  for (const directory of ['', CGROUP, join(CGROUP, lab)]) {
    const file = join(machine.cgroup2, directory, 'cgroup.subtree_control');
    for (const controller of wanted) await writeFile(file, `+${controller}`);
  }
  return new Set(wanted);
}

/** The host's PID 1, as the machine numbers it; null where it is not running. */
export async function initPid(cgroups: HostCgroups): Promise<number | null> {
  const text = await readOr(join(cgroups.unified, 'payload/init.scope/cgroup.procs'), '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 ? pid : null;
}

/** True while anything of the host is alive, its supervisor included. */
export async function isAlive(cgroups: HostCgroups): Promise<boolean> {
  return /^populated 1$/m.test(await readOr(join(cgroups.unified, 'cgroup.events'), ''));
}

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

async function readOr(path: string, otherwise: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => otherwise);
}
