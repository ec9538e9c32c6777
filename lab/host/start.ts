import { randomUUID } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { lastLines } from '../../core/last-lines.js';
import { type HostCgroups, makeHostCgroups } from '../cgroup.js';
import type { Image } from '../image/image.js';
import { authorise } from '../keys.js';
import type { Lab, LabHost } from '../lab.js';
import type { Machine } from '../machine.js';
import { bridgeName, cableName } from '../names.js';
import { toolPath } from '../process.js';
import { hostDirectory } from '../state.js';
import boot from './boot.sh';
import enter from './enter.sh';

/**
 * Starts a host that is not running, and leaves it to itself: it outlives this process. Its boot is not waited for.
 * @returns `ended` is settled when the host has ended for good
 */
export async function startHost(
  machine: Machine,
  lab: Lab,
  host: LabHost,
  image: Image,
): Promise<{ readonly ended: Promise<unknown> }> {
  const directory = hostDirectory(lab.name, host.name);
  await prepareFiles(lab, host, directory);
  const cgroups = await makeHostCgroups(machine, lab.name, host.name);
  const supervisor = execa('sh', ['-c', 'exec sh "$STATE/boot.sh" >"$STATE/console.log" 2>&1'], {
    detached: true,
    cleanup: false,
    reject: false,
    stdio: 'ignore',
    cwd: '/',
    extendEnv: false,
    env: parameters(lab, host, image, directory, cgroups),
  });
  supervisor.unref();
  return { ended: supervisor };
}

/** What boot.sh and enter.sh read. */
function parameters(
  lab: Lab,
  host: LabHost,
  image: Image,
  directory: string,
  cgroups: HostCgroups,
): Readonly<Record<string, string>> {
  return {
    PATH: toolPath(),
    NAME: host.name,
    STATE: directory,
    IMAGE: image.root,
    PACKAGES: image.packages,
    CGROUP: cgroups.unified,
    CAPS: cgroups.caps.join(' '),
    BRIDGE: bridgeName(lab.name),
    VETH: cableName(lab.name, host.number),
    ADDRESS: host.address,
    ADDRESS6: host.address6,
    GATEWAY: lab.gateway,
    GATEWAY6: lab.gateway6,
  };
}

/** The host's own files: those that make it one of its kind are written once, so that a restart keeps them. */
async function prepareFiles(lab: Lab, host: LabHost, directory: string): Promise<void> {
  const etc = join(directory, 'upper/etc');
  await mkdir(etc, { recursive: true });
  await writeFile(join(directory, 'boot.sh'), boot);
  await writeFile(join(directory, 'enter.sh'), enter);
  await authorise(lab, host.name);
  await writeOnce(join(etc, 'machine-id'), `${randomUUID().replaceAll('-', '')}\n`);
  await writeOnce(join(etc, 'hostname'), `${host.name}\n`);
  const names = `127.0.0.1 localhost\n::1 localhost ip6-localhost\n${host.address} ${host.name}\n`;
  await writeOnce(join(etc, 'hosts'), names);
}

async function writeOnce(path: string, content: string): Promise<void> {
  if ((await stat(path).catch(() => null)) === null) await writeFile(path, content, { mode: 0o644 });
}

/** The last lines that a host's boot said on its console, for an error. */
export async function consoleTail(lab: string, host: string): Promise<string> {
  const text = await readFile(join(hostDirectory(lab, host), 'console.log'), 'utf8').catch(() => '');
  return lastLines(text, 5);
}
