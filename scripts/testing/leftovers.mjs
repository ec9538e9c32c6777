// What a lab left on this machine, looked for without the lab's own code: that is what is under test.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function networkNamespace(pid) {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return '';
  }
}

const inLab = (pid, lab) =>
  read(`/proc/${pid}/cgroup`)
    .split('\n')
    // Only a process that has ended, and waits to be reaped, can be in a deleted cgroup.
    .some((line) => line.includes(`/watertight-lab/${lab}/`) && !line.endsWith(' (deleted)'));

/** The network namespaces of a lab that is up; hosts' namespaces have no names to look for afterwards. */
export function labNamespaces(lab) {
  const own = networkNamespace(process.pid);
  const found = pids()
    .filter((pid) => inLab(pid, lab))
    .map(networkNamespace);
  return new Set(found.filter((namespace) => namespace !== '' && namespace !== own));
}

/** One line for everything of the lab that is still there. */
export function leftovers(lab, namespaces) {
  const found = [];
  for (const pid of pids()) {
    if (inLab(pid, lab)) found.push(`process ${pid}`);
    if (namespaces.has(networkNamespace(pid))) found.push(`network namespace of process ${pid}`);
    if (read(`/proc/${pid}/mountinfo`).includes(`/watertight-lab/${lab}/`)) found.push(`mount, in process ${pid}`);
  }
  for (const name of readdirSync('/sys/class/net')) {
    if (name === `wt-${lab}` || name.startsWith(`wt-${lab}-`)) found.push(`network interface ${name}`);
  }
  for (const line of read('/proc/self/mounts').split('\n')) {
    const [, place, type] = line.split(' ');
    if (!type?.startsWith('cgroup')) continue;
    if (existsSync(`${place}/watertight-lab/${lab}`)) found.push(`cgroup ${place}/watertight-lab/${lab}`);
  }
  if (existsSync(`/var/lib/watertight-lab/${lab}`)) found.push(`files /var/lib/watertight-lab/${lab}`);
  return found;
}
