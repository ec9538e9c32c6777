import { connect, createServer, type Server } from 'node:net';

/**
 * Holds a lock of this machine while `work` runs; waits for whoever holds it. An abstract socket (unix(7)) is one that the
 * kernel takes away with its process, however that ends, so there is never a stale lock to break.
 * @param onWait called once if somebody else holds it
 */
export async function withLock<T>(name: string, work: () => Promise<T>, onWait: () => void = () => {}): Promise<T> {
  const path = abstractPath(name);
  let server = await tryListen(path);
  if (server === null) onWait();
  while (server === null) {
    await untilReleased(path);
    server = await tryListen(path);
  }
  return holding(server, work);
}

/** The same where nobody holds it. @returns null, with the work not done, where somebody does */
export async function withLockIfFree<T>(name: string, work: () => Promise<T>): Promise<T | null> {
  const server = await tryListen(abstractPath(name));
  return server === null ? null : holding(server, work);
}

function abstractPath(name: string): string {
  return `\0watertight-lab/${name}`;
}

async function holding<T>(server: Server, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    server.close();
    for (const waiter of waiters.get(server) ?? []) waiter();
  }
}

/** Connections of those who wait: their end tells them that the lock is free. */
const waiters = new WeakMap<Server, Set<() => void>>();

function tryListen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const ends = new Set<() => void>();
    const server = createServer((socket) => {
      ends.add(() => socket.destroy());
      socket.on('error', () => {});
    });
    waiters.set(server, ends);
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function untilReleased(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path);
    // Refused or cut off: either way the holder is gone, or about to be.
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(resolve, 20));
  });
}
