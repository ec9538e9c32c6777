import type { OnReadOpts, Socket } from 'node:net';
import type { Ending } from './decision-line.js';
import type { Limits } from './limits.js';
import { type ReadBuffer, readBuffer } from './read-buffers.js';

/** Bytes carried, counted at the far side. */
export interface Carried {
  readonly up: number;
  readonly down: number;
  readonly ending: Ending;
}

/** Far side to client: reads into one buffer and writes from it, without a copy or an allocation a chunk. */
export interface Downlink {
  readonly onread: OnReadOpts;
  /** Says where the bytes go, before the first read. */
  readonly attach: (upstream: Socket, client: Socket) => void;
  readonly close: () => void;
}

/** Makes the reader for a socket that is about to be connected. */
export function downlink(buffer: ReadBuffer = readBuffer()): Downlink {
  let client: Socket | null = null;
  let upstream: Socket | null = null;
  let waiting = false;
  const flushed = (): void => {
    if (!waiting || client === null || client.writableLength > 0) return;
    waiting = false;
    buffer.flushed();
    upstream?.resume();
  };
  return {
    onread: {
      buffer: () => buffer.next(),
      callback: (read, bytes) => {
        // Not connected to anyone any more: nothing to keep.
        if (client === null || !client.writable) return true;
        client.write(bytes.subarray(0, read), flushed);
        waiting = client.writableLength > 0;
        buffer.used(read, !waiting);
        // Reading stops until the client has taken all of it: a slow reader costs one buffer.
        return !waiting;
      },
    },
    attach: (from, to) => {
      upstream = from;
      client = to;
    },
    close: () => {
      buffer.release();
      client = null;
      upstream = null;
    },
  };
}

/**
 * Joins two sockets both ways until both directions have ended or either breaks. A direction that ends is passed on as
 * an end (half-close), and the other one may then be silent only for a while.
 */
export function tunnel(
  client: Socket,
  upstream: Socket,
  down: Downlink,
  limits: Pick<Limits, 'idleMs' | 'halfClosedMs'>,
  done: (carried: Carried) => void,
): void {
  let open = 2;
  let ending: Ending = 'closed';
  const breakBoth = (how: Ending) => (): void => {
    if (ending === 'closed') ending = how;
    client.destroy();
    upstream.destroy();
  };
  const silent = breakBoth('idle');
  const broken = breakBoth('reset');
  const closed =
    (other: Socket) =>
    (hadError: boolean): void => {
      open -= 1;
      if (open === 0) {
        down.close();
        done({ up: upstream.bytesWritten, down: upstream.bytesRead, ending });
      } else if (hadError) {
        broken();
      } else {
        // It may still have bytes to give; it has been told to end.
        other.setTimeout(limits.halfClosedMs, silent);
        other.end();
      }
    };
  const halfClosed = (other: Socket) => (): void => {
    other.end();
    client.setTimeout(limits.halfClosedMs);
  };
  down.attach(upstream, client);
  client.setTimeout(limits.idleMs, silent);
  client.on('data', (chunk: Buffer) => {
    if (!upstream.write(chunk)) client.pause();
  });
  upstream.on('drain', () => client.resume());
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.on('end', halfClosed(other));
    socket.on('error', broken);
    socket.on('close', closed(other));
    // A peer that vanished without a word is noticed by the kernel.
    socket.setKeepAlive(true, 60_000);
  }
  // It may have ended while its first bytes were looked at.
  if (client.readableEnded) halfClosed(upstream)();
  client.resume();
  upstream.resume();
}
