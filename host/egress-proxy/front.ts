import type { Socket } from 'node:net';
import { answerAndClose } from './answer.js';
import { serveConnect } from './connect-handler.js';
import { parseConnectHead } from './head.js';
import type { PlainHttp } from './plain-http.js';
import { accountForRefusal, type ProxyContext } from './proxy-context.js';
import { type DenyReason, REASONS } from './reasons.js';

const CONNECT = Buffer.from('CONNECT ');
const LINGER_MS = 5000;

/**
 * Reads the first bytes of a connection. CONNECT is served here, from the bare socket; all else goes to the HTTP parser
 * with its bytes put back.
 */
export function receive(context: ProxyContext, http: PlainHttp, socket: Socket): void {
  let received: Buffer = Buffer.alloc(0);
  const settle = (): void => {
    clearTimeout(timer);
    socket.removeListener('data', onData);
    socket.removeListener('end', onEnd);
    socket.removeListener('close', settle);
  };
  const refuse = (reason: DenyReason): void => {
    settle();
    accountForRefusal(context, socket, reason, REASONS[reason].status);
    answerAndClose(socket, reason, LINGER_MS);
  };
  const onData = (chunk: Buffer): void => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const known = Math.min(received.length, CONNECT.length);
    if (CONNECT.compare(received, 0, known, 0, known) !== 0) {
      settle();
      handOver(http, socket, received);
      return;
    }
    if (received.length < CONNECT.length) return;
    const parsed = parseConnectHead(received, context.limits);
    if (parsed === null) return;
    if (!parsed.ok) {
      refuse(parsed.reason);
      return;
    }
    settle();
    serveConnect(context, socket, parsed.head, parsed.rest);
  };
  // Half a head and then the end is no request.
  const onEnd = (): void => {
    if (received.length > 0) {
      refuse('request-malformed');
      return;
    }
    settle();
    socket.destroy();
  };
  const timer = setTimeout(() => {
    if (received.length > 0) {
      refuse('request-timeout');
      return;
    }
    settle();
    socket.destroy();
  }, context.limits.headMs);
  socket.on('data', onData);
  socket.on('end', onEnd);
  socket.on('close', settle);
}

function handOver(http: PlainHttp, socket: Socket, received: Buffer): void {
  socket.pause();
  socket.unshift(received);
  http.take(socket);
  socket.resume();
}
