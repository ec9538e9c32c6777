import { readFile, readlink } from 'node:fs/promises';

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
  return sockets.filter(({ inode }) => !unix.has(inode)).map(({ number, inode }) => `${number} (socket ${inode})`);
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
