import { spawn } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';

/** AF_UNIX on every Linux (include/linux/socket.h). */
const AF_UNIX = 1;

/** Standard descriptors, all that confined work is given. */
const STANDARD = [0, 1, 2] as const;

/**
 * Names those standard descriptors that are sockets of anything but the Unix family. A socket that was made outside
 * keeps the cgroup that it was made in (nft's `socket cgroupv2` looks at the socket, not at who sends), so a confined
 * process that inherited one could talk past the rules.
 */
export async function foreignSockets(): Promise<string[]> {
  const links = await Promise.all(STANDARD.map(async (number) => ({ number, link: await linkOf(number) })));
  const sockets = links.flatMap(({ number, link }) => {
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    return inode === undefined ? [] : [{ number, inode }];
  });
  if (sockets.length === 0) return [];
  const unix = unixInodes(await readFile('/proc/net/unix', 'utf8'));
  const unlisted = sockets.filter(({ inode }) => !unix.has(inode));
  const families = await Promise.all(unlisted.map(({ number }) => familyOf(number)));
  return unlisted
    .filter((_, index) => families[index] !== AF_UNIX)
    .map(({ number, inode }) => `${number} (socket ${inode})`);
}

/**
 * Asks the socket itself (SO_DOMAIN, socket(7)), by a program that can: the table lists the Unix sockets of our own
 * network namespace alone, and a caller may come from another. @returns null where it could not be told
 */
function familyOf(descriptor: number): Promise<number | null> {
  const program = 'import socket; print(int(socket.socket(fileno=0).family))';
  return new Promise((resolve) => {
    const child = spawn('/usr/bin/python3', ['-I', '-c', program], { stdio: [descriptor, 'pipe', 'ignore'] });
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
    child.once('error', () => resolve(null));
    child.once('close', () => resolve(/^\d+\n$/.test(said) ? Number(said) : null));
  });
}

/** Inodes of /proc/net/unix: the seventh column (proc(5)). */
export function unixInodes(table: string): ReadonlySet<string> {
  const rows = table.split('\n').slice(1);
  return new Set(rows.flatMap((row) => row.trim().split(/\s+/)[6] ?? []));
}

async function linkOf(descriptor: number): Promise<string> {
  try {
    return await readlink(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}
