import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerAndClose } from './answer.js';
import { serveConnect } from './connect-handler.js';
import { serveForward } from './forward.js';
import { accountFor, accountForRefusal, type ProxyContext } from './proxy-context.js';
import { REASONS, type Reason } from './reasons.js';

/** The plain HTTP side: connections are handed to it by the front, with their bytes put back. */
export interface PlainHttp {
  readonly take: (socket: Socket) => void;
  /** Closes connections that wait for a next request. */
  readonly closeIdle: () => void;
  readonly close: () => void;
}

const LINGER_MS = 5000;
const SWEEP_MS = 1000;

export function plainHttp(context: ProxyContext): PlainHttp {
  /** Connections without a request under way, and when their next head has to be complete. */
  const waiting = new Map<Socket, { readonly deadline: number; readonly first: boolean }>();
  const server = createServer({ maxHeaderSize: context.limits.headBytes, requireHostHeader: false });
  configure(server);

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    waiting.delete(socket);
    response.once('finish', () => {
      if (socket.destroyed) return;
      waiting.set(socket, { deadline: performance.now() + context.limits.keepAliveMs, first: false });
      if (context.isDraining()) socket.end();
    });
    serveForward(context, request, response);
  };
  server.on('request', begin);
  // The far side decides on Expect: 100-continue; a refused request must not be told to go on.
  server.on('checkContinue', begin);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuseExpectation(context, request, response);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket, early: Buffer) => {
    waiting.delete(socket);
    const fields = request.rawHeaders;
    const version = request.httpVersion === '1.0' ? '1.0' : '1.1';
    serveConnect(context, socket, { method: 'CONNECT', target: request.url ?? '', version, fields }, early);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseUnreadable(context, socket, error, waiting.delete(socket));
  });

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [socket, { deadline, first }] of waiting) {
      if (now < deadline) continue;
      waiting.delete(socket);
      // A kept connection that is merely idle is closed in silence, as everyone does.
      if (!first) socket.destroy();
      else refuseUnreadable(context, socket, { name: '', message: '', code: 'TIMEOUT' }, true);
    }
  }, SWEEP_MS);
  sweep.unref();

  return {
    take: (socket) => {
      waiting.set(socket, { deadline: performance.now() + context.limits.headMs, first: true });
      socket.once('close', () => waiting.delete(socket));
      server.emit('connection', socket);
    },
    closeIdle: () => {
      for (const [socket, { first }] of waiting) if (!first) socket.destroy();
    },
    close: () => clearInterval(sweep),
  };
}

/** Node's own timers run only in a server that listens itself; the sweep above does their work. */
function configure(server: Server): void {
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.timeout = 0;
  // Beyond its count the parser drops fields without a word: they are counted where requests are decided.
  server.maxHeadersCount = 0;
}

const REFUSALS: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: 'request-too-large',
  TIMEOUT: 'request-timeout',
};

/** @param fresh no request is under way, so that this one has no line yet */
function refuseUnreadable(context: ProxyContext, socket: Socket, error: NodeJS.ErrnoException, fresh: boolean): void {
  const unreadable = error.code === 'TIMEOUT' || error.code?.startsWith('HPE_') === true;
  if (!fresh || !unreadable || !socket.writable) {
    socket.destroy();
    return;
  }
  const reason = REFUSALS[error.code ?? ''] ?? 'request-malformed';
  accountForRefusal(context, socket, reason, REASONS[reason].status);
  answerAndClose(socket, reason, LINGER_MS);
}

function refuseExpectation(context: ProxyContext, request: IncomingMessage, response: ServerResponse): void {
  const reason = 'expectation-unsupported';
  const account = accountFor(context, request.socket, request.method ?? '', request.url ?? '', 0);
  account.decided({ reason, rule: '', address: '', status: REASONS[reason].status });
  response.shouldKeepAlive = false;
  response.writeHead(REASONS[reason].status, { 'x-watertight-reason': reason, 'content-length': '0' });
  response.end();
}
