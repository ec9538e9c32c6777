import { connect, type OnReadOpts, type Socket } from 'node:net';
import type { Limits } from './limits.js';
import type { DenyReason, FaultReason } from './reasons.js';

/** What keeps a connection from standing. */
type DialFault = FaultReason | (DenyReason & 'limit-descriptors');

/** What reads a socket: nothing in particular (a stream), or a callback with buffers of its own. */
export interface Reader {
  readonly onread?: OnReadOpts;
}

export type Dialled<R extends Reader> =
  /** The socket is paused; errors before yours is listened to are swallowed, the socket is then destroyed. */
  | { readonly ok: true; readonly socket: Socket; readonly address: string; readonly reader: R }
  | { readonly ok: false; readonly reason: DialFault; readonly address: string };

export interface DialOptions {
  /** Addresses, tried in this order; the first to connect wins. Never names. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly limits: Pick<Limits, 'connectMs' | 'attemptMs'>;
}

const FAULTS: Readonly<Record<string, DialFault>> = {
  EMFILE: 'limit-descriptors',
  ENFILE: 'limit-descriptors',
  ECONNREFUSED: 'connect-refused',
  ECONNRESET: 'connect-refused',
  EHOSTUNREACH: 'connect-unreachable',
  ENETUNREACH: 'connect-unreachable',
  EADDRNOTAVAIL: 'connect-unreachable',
  ETIMEDOUT: 'connect-timeout',
};

const ignore = (): void => {};

/**
 * Connects to the first address that answers. A slow one does not hold up the next (RFC 8305 in small).
 *
 * @param makeReader called for each attempt
 * @returns what ends the attempt early; `done` is then not called
 */
export function dial<R extends Reader>(
  options: DialOptions,
  makeReader: () => R,
  done: (result: Dialled<R>) => void,
): () => void {
  const { addresses, port, limits } = options;
  const open = new Set<Socket>();
  let next = 0;
  let settled = false;
  let fault: Dialled<R> & { ok: false } = { ok: false, reason: 'connect-failed', address: addresses[0] ?? '' };
  let stagger: NodeJS.Timeout | undefined;

  const close = (): void => {
    settled = true;
    clearTimeout(deadline);
    clearTimeout(stagger);
    for (const socket of open) socket.destroy();
  };
  const settle = (result: Dialled<R>): void => {
    if (settled) return;
    if (result.ok) open.delete(result.socket);
    close();
    done(result);
  };
  const tryNext = (): void => {
    clearTimeout(stagger);
    const address = addresses[next++];
    if (address === undefined) {
      if (open.size === 0) settle(fault);
      return;
    }
    if (next < addresses.length) stagger = setTimeout(tryNext, limits.attemptMs);
    const reader = makeReader();
    const socket = connect({
      host: address,
      port,
      allowHalfOpen: true,
      noDelay: true,
      ...(reader.onread === undefined ? {} : { onread: reader.onread }),
    });
    open.add(socket);
    // Nothing is read before its reader is in place; the far side may speak first.
    socket.pause();
    socket.on('error', ignore);
    socket.once('connect', () => settle({ ok: true, socket, address, reader }));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      open.delete(socket);
      if (settled) return;
      fault = { ok: false, reason: FAULTS[error.code ?? ''] ?? 'connect-failed', address };
      tryNext();
    });
  };
  const deadline = setTimeout(
    () => settle({ ok: false, reason: 'connect-timeout', address: addresses[0] ?? '' }),
    limits.connectMs,
  );
  tryNext();
  return close;
}
