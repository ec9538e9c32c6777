import { mkdir, readFile, statfs } from 'node:fs/promises';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { LAB_ROOT } from './names.js';
import { tool, tryTool } from './process.js';

/** OVERLAYFS_SUPER_MAGIC of linux/magic.h. */
const OVERLAYFS_MAGIC = 0x794c7630;

/** Where this machine mounts what a lab needs. */
export interface Machine {
  /** Mount point of the unified hierarchy. */
  readonly cgroup2: string;
  /**
   * Mount points of version 1 controllers that cap a host's memory and tasks: on a hybrid machine the unified hierarchy
   * has no such controllers. Empty on a machine with pure cgroup v2.
   */
  readonly capHierarchies: Readonly<Partial<Record<'memory' | 'pids', string>>>;
}

/** @throws Failure unless root runs this */
export function requireRoot(action: string): void {
  if (process.getuid?.() === 0) return;
  throw new Failure(
    `${action} needs root, for its namespaces, mounts and network`,
    EXIT.couldNotTell,
    'run it with sudo',
  );
}

/** Checks that this machine can run lab hosts. @throws Failure that names what is missing, with what mends it */
export async function inspectMachine(): Promise<Machine> {
  if (process.platform !== 'linux') throw cannot('lab hosts are Linux namespaces, and this is no Linux', null);
  requireRoot('a lab');
  await requireOverlay();
  await requireNamespaces();
  return thisMachine();
}

/** The same without the checks, for what only looks at a lab or takes it away. */
export async function thisMachine(): Promise<Machine> {
  return readMachine(await readFile('/proc/self/mounts', 'utf8'));
}

/** @throws Failure unless the file system of `directory` has so much room */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= bytes) return;
  const mebibytes = (size: number): number => Math.floor(size / 1024 ** 2);
  const message = `${directory} has ${mebibytes(bavail * bsize)} MiB free, and ${mebibytes(bytes)} are needed`;
  throw new Failure(message, EXIT.couldNotTell, `make room there, or mount a larger file system on ${LAB_ROOT}`);
}

/** Reads the cgroup hierarchies out of /proc/self/mounts. @throws Failure where there is no unified one */
export function readMachine(mounts: string): Machine {
  const lines = mounts.split('\n').map((line) => line.split(' '));
  const cgroup2 = lines.find(([, , type]) => type === 'cgroup2')?.[1];
  if (cgroup2 === undefined) {
    throw cannot('no cgroup2 file system is mounted', 'mount -t cgroup2 cgroup2 /sys/fs/cgroup (or boot with systemd)');
  }
  const capHierarchies: Partial<Record<'memory' | 'pids', string>> = {};
  for (const [, place, type, options] of lines) {
    if (type !== 'cgroup' || place === undefined) continue;
    const controllers = options?.split(',') ?? [];
    for (const name of ['memory', 'pids'] as const) if (controllers.includes(name)) capHierarchies[name] = place;
  }
  return { cgroup2, capHierarchies };
}

async function requireOverlay(): Promise<void> {
  const known = async (): Promise<boolean> => /\boverlay$/m.test(await readFile('/proc/filesystems', 'utf8'));
  if (!(await known())) await tryTool(['modprobe', 'overlay']);
  if (!(await known()))
    throw cannot('the kernel has no overlayfs', 'modprobe overlay, or a kernel with CONFIG_OVERLAY_FS');
  // The kernel takes no overlay as the upper layer of another, and a container's root usually is one.
  await mkdir(LAB_ROOT, { recursive: true, mode: 0o755 });
  if ((await statfs(LAB_ROOT)).type !== OVERLAYFS_MAGIC) return;
  throw cannot(`${LAB_ROOT} is on an overlayfs itself`, `mount a disk or a tmpfs on ${LAB_ROOT}`);
}

async function requireNamespaces(): Promise<void> {
  await tool(['ip', '-V']);
  const flags = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--fork'] as const;
  const tried = await tryTool(['unshare', ...flags, 'true']);
  if (tried.status === 0) return;
  const why = tried.stderr.trim().split('\n')[0] ?? '';
  throw cannot(
    `this machine refuses new namespaces (${why})`,
    'run it on a machine, virtual or real, or in a container with --privileged',
  );
}

function cannot(reason: string, fix: string | null): Failure {
  return new Failure(`no lab can run here: ${reason}`, EXIT.couldNotTell, fix);
}
