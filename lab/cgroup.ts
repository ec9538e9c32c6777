import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
export function places(machine: Machine, ...parts: readonly string[]): readonly string[] {
  return [machine.cgroup2, ...Object.values(machine.capHierarchies)].map((root) => join(root, CGROUP, ...parts));
}

/** The cgroup in which a lab builds its images. */
export async function makeBuildCgroup(machine: Machine, lab: string): Promise<string> {
  const directory = join(machine.cgroup2, CGROUP, lab, 'build');
  await mkdir(directory, { recursive: true });
  return directory;
}

/** Where a host's cgroups are, made or not. */
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

/**
 * Hands the unified hierarchy's controllers down to the lab's hosts, as far as the machine has them and lets go of them:
 * where this machine is a container, its own processes stand in the way ("no internal process", cgroup-v2).
 * @returns those that hosts have
 */
async function delegate(machine: Machine, lab: string): Promise<ReadonlySet<string>> {
  const available = (await readFile(join(machine.cgroup2, 'cgroup.controllers'), 'utf8')).trim().split(/\s+/);
  const delegated = new Set<string>();
  for (const controller of ['memory', 'pids', 'cpu', 'io'].filter((name) => available.includes(name))) {
    if (await enable(machine, lab, controller)) delegated.add(controller);
  }
  return delegated;
}

async function enable(machine: Machine, lab: string, controller: string): Promise<boolean> {
  for (const directory of ['', CGROUP, join(CGROUP, lab)]) {
    const file = join(machine.cgroup2, directory, 'cgroup.subtree_control');
    const done = await writeFile(file, `+${controller}`).then(
      () => true,
      () => false,
    );
    if (!done) return false;
  }
  return true;
}

/** The host's PID 1, as the machine numbers it; null where it is not running. */
export async function initPid(cgroups: HostCgroups): Promise<number | null> {
  const text = await readOr(join(cgroups.unified, 'payload/init.scope/cgroup.procs'), '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 ? pid : null;
}

/** The text of a file, or something else where it is not there (any more). */
export async function readOr(path: string, otherwise: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => otherwise);
}
