import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { REASONS, type Reason } from './reasons.js';

/** What says, to programs, why there is no connection. */
export const REASON_HEADER = 'x-watertight-reason';

export const CONNECTED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Statuses that tell the client to come back (RFC 9110, section 10.2.3; RFC 6585, section 4). */
const RETRY: ReadonlySet<number> = new Set([429, 503]);

/** Body for people; says the fact and nothing of the policy. */
export function answerBody(reason: Reason): string {
  return `watertight: ${REASONS[reason].text}.\n`;
}

/** Header fields of an answer of the proxy's own. */
export function answerFields(reason: Reason): Record<string, string> {
  return {
    [REASON_HEADER]: reason,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(answerBody(reason))),
    'cache-control': 'no-store',
    ...(RETRY.has(REASONS[reason].status) ? { 'retry-after': '1' } : {}),
  };
}

/**
 * Answers on a bare socket and closes it, in lingerMs at most. Until then what the client still sends is read and
 * dropped: a close with unread bytes is a reset, which would take the answer from it.
 */
export function answerAndClose(socket: Socket, reason: Reason, lingerMs: number): void {
  const { status } = REASONS[reason];
  const fields = Object.entries(answerFields(reason)).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('')}connection: close\r\n\r\n`;
  socket.removeAllListeners('data');
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(head + answerBody(reason));
}
