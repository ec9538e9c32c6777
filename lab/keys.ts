import { chmod, chown, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Lab } from './lab.js';
import { tool } from './process.js';
import { hostDirectory } from './state.js';

const HOST_KEY = 'etc/ssh/ssh_host_ed25519_key';

/** Makes a key pair unless it is there. It appears whole or not at all, also when this process is killed. */
async function ensureKey(path: string, comment: string): Promise<string> {
  if ((await stat(`${path}.pub`).catch(() => null)) === null) {
    await mkdir(dirname(path), { recursive: true });
    const draft = `${path}.new`;
    await rm(draft, { force: true });
    await rm(`${draft}.pub`, { force: true });
    await tool(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', draft]);
    await rename(draft, path);
    await rename(`${draft}.pub`, `${path}.pub`);
  }
  return (await readFile(`${path}.pub`, 'utf8')).trim();
}

/** Makes the lab's key for `ops`, and each host's own host key, in the host's files; and lists the latter for clients. */
export async function ensureKeys(lab: Lab): Promise<void> {
  await ensureKey(lab.identity, `watertight-lab-${lab.name}`);
  await handToInvoker(lab.identity);
  const lines: string[] = [];
  for (const host of lab.hosts) {
    const upper = join(hostDirectory(lab.name, host.name), 'upper');
    const [type = '', key = ''] = (await ensureKey(join(upper, HOST_KEY), host.name)).split(' ');
    lines.push(`${host.name},${host.address},${host.address6} ${type} ${key}\n`);
  }
  await writeFile(lab.knownHosts, lines.join(''), { mode: 0o644 });
}

/** Lets the lab's key in as `ops` (the image's sshd looks there). */
export async function authorise(lab: Lab, host: string): Promise<void> {
  const directory = join(hostDirectory(lab.name, host), 'upper/etc/ssh/authorized_keys.d');
  await mkdir(directory, { recursive: true });
  await copyFile(`${lab.identity}.pub`, join(directory, 'ops'));
  await chmod(join(directory, 'ops'), 0o644);
}

/** The key belongs to whoever typed sudo, since ssh refuses a key that others can read. */
async function handToInvoker(path: string): Promise<void> {
  const uid = Number(process.env.SUDO_UID);
  const gid = Number(process.env.SUDO_GID);
  if (uid > 0 && gid > 0) await chown(path, uid, gid);
}
