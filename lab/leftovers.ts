import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readMachine } from './machine.js';
import { CGROUP, isLabInterface, labDirectory } from './names.js';

/**
 * What of a lab is still on this machine: processes (by cgroup and by command line), mounts (in any mount namespace),
 * network interfaces, cgroups, files. A host's namespaces have no name of their own: they last as long as its processes.
 * @returns one line for each; empty where nothing is left
 */
export async function findLeftovers(lab: string): Promise<readonly string[]> {
  const directory = labDirectory(lab);
  return [
    ...(await leftProcesses(lab, directory)),
    ...(await leftInterfaces(lab)),
    ...(await leftCgroups(lab)),
    ...((await stat(directory).catch(() => null)) === null ? [] : [`files ${directory}`]),
  ];
}

async function leftProcesses(lab: string, directory: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found: string[] = [];
  for (const pid of pids) {
    if (holds(await liveCgroups(pid), `/${CGROUP}/${lab}`)) found.push(`process ${pid}, in a cgroup of the lab`);
    if (holds(await read(`/proc/${pid}/cmdline`), directory)) found.push(`process ${pid}, run with files of the lab`);
    if (holds(await read(`/proc/${pid}/mountinfo`), directory)) found.push(`mount, seen by process ${pid}`);
  }
  return found;
}

/** A zombie that nobody has reaped yet still names its cgroup, marked as deleted; only the dead can be in such a one. */
async function liveCgroups(pid: string): Promise<string> {
  const lines = (await read(`/proc/${pid}/cgroup`)).split('\n');
  return lines.filter((line) => !line.endsWith(' (deleted)')).join('\n');
}

/** True where a path occurs in a text as a whole: lab `a` is not lab `ab`. */
export function holds(text: string, path: string): boolean {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`${escaped}(?![A-Za-z0-9-])`).test(text);
}

async function leftInterfaces(lab: string): Promise<readonly string[]> {
  const names = await readdir('/sys/class/net').catch(() => []);
  return names.filter((name) => isLabInterface(lab, name)).map((name) => `network interface ${name}`);
}

async function leftCgroups(lab: string): Promise<readonly string[]> {
  const { cgroup2, capHierarchies } = readMachine(await read('/proc/self/mounts'));
  const found: string[] = [];
  for (const root of [cgroup2, ...Object.values(capHierarchies)]) {
    const directory = join(root, CGROUP, lab);
    if ((await stat(directory).catch(() => null)) !== null) found.push(`cgroup ${directory}`);
  }
  return found;
}

async function read(path: string): Promise<string> {
  // A process may end between the listing and the reading.
  return readFile(path, 'utf8').catch(() => '');
}
