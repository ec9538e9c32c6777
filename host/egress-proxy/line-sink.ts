import { fstatSync, write } from 'node:fs';
import { Socket } from 'node:net';

/** Where lines go. Writing never throws, never waits, never grows beyond a bound: what does not fit is counted. */
export interface LineSink {
  /** Takes one line without its newline. */
  readonly write: (line: string) => void;
  /** Lines dropped so far. */
  readonly lost: () => number;
  /** Settles when all that was taken has been written or lost, or after the given ms. */
  readonly flush: (deadlineMs: number) => Promise<void>;
}

/** Hands a chunk to the kernel, sooner or later; calls back when it is gone or failed. */
type Transport = (chunk: string, done: (failed: boolean) => void) => void;

/** Lines to a file descriptor: journal socket, pipe or file. */
export function lineSink(fd: number, maxBytes: number, transport: Transport = transportOf(fd)): LineSink {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let busy = false;
  let scheduled = false;
  let drained: (() => void)[] = [];

  const pump = (): void => {
    scheduled = false;
    if (busy) return;
    if (waiting.length === 0) {
      for (const settle of drained) settle();
      drained = [];
      return;
    }
    const lines = waiting;
    waiting = [];
    waitingBytes = 0;
    busy = true;
    transport(`${lines.join('\n')}\n`, (failed) => {
      busy = false;
      if (failed) lost += lines.length;
      pump();
    });
  };
  return {
    write: (line) => {
      if (waitingBytes + line.length > maxBytes) {
        lost += 1;
        return;
      }
      waiting.push(line);
      waitingBytes += line.length;
      // One write a turn of the event loop for all lines of that turn.
      if (!scheduled && !busy) {
        scheduled = true;
        setImmediate(pump);
      }
    },
    lost: () => lost,
    flush: (deadlineMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, deadlineMs);
        drained.push(() => {
          clearTimeout(timer);
          resolve();
        });
        pump();
      }),
  };
}

/**
 * Pipes and sockets are written through libuv without blocking (process.stdout would block on a full pipe: see "A note
 * on process I/O" in Node's documentation); files by the thread pool.
 */
function transportOf(fd: number): Transport {
  const kind = kindOf(fd);
  switch (kind) {
    case 'none':
      return (_chunk, done) => setImmediate(done, true);
    case 'file':
      return (chunk, done) => writeAll(fd, Buffer.from(chunk), done);
    case 'stream': {
      const socket = new Socket({ fd, readable: false, writable: true });
      let broken = false;
      socket.on('error', () => {
        broken = true;
      });
      // The log alone does not keep the process alive.
      socket.unref();
      return (chunk, done) => {
        if (broken || socket.destroyed) setImmediate(done, true);
        else socket.write(chunk, (error) => done(error !== null && error !== undefined));
      };
    }
  }
}

function kindOf(fd: number): 'stream' | 'file' | 'none' {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() ? 'stream' : 'file';
  } catch {
    return 'none';
  }
}

function writeAll(fd: number, data: Buffer, done: (failed: boolean) => void): void {
  write(fd, data, (error, written) => {
    if (error !== null) done(true);
    else if (written < data.length) writeAll(fd, data.subarray(written), done);
    else done(false);
  });
}
