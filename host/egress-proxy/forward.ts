import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerBody, answerFields } from './answer.js';
import { hostText } from './authority.js';
import { decide } from './decide.js';
import type { Account, Outcome } from './decision-line.js';
import { dial } from './dial.js';
import { requestFields, responseFields } from './forward-headers.js';
import type { Head } from './head.js';
import { accountFor, type ProxyContext } from './proxy-context.js';
import { REASONS, type Reason } from './reasons.js';
import { readRequest } from './request.js';

/** One request that has been decided and connected. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly account: Account;
  readonly upstream: Socket;
  readonly outcome: Omit<Outcome, 'status'>;
}

/** Serves one plain HTTP request in absolute form. Each request of a kept connection comes here and is decided anew. */
export function serveForward(context: ProxyContext, incoming: IncomingMessage, response: ServerResponse): void {
  const client = incoming.socket;
  const head: Head = {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    version: incoming.httpVersion === '1.0' ? '1.0' : '1.1',
    fields: incoming.rawHeaders,
  };
  const read = readRequest(head);
  const host = read.ok ? hostText(read.target.host) : read.host;
  const account = accountFor(context, client, head.method, host, read.ok ? read.target.port : read.port);
  const stop = (reason: Reason, rule: string, address: string): void => {
    account.decided({ reason, rule, address, status: REASONS[reason].status });
    refuse(incoming, response, reason);
  };
  incoming.on('error', ignore);
  response.on('error', ignore);
  if (!read.ok) {
    stop(read.reason, '', '');
    return;
  }
  if (context.isDraining()) {
    stop('shutting-down', '', '');
    return;
  }
  void decide(read.target, context.policy(), context.world).then((decision) => {
    const { rule } = decision;
    const left = (): void => account.decided({ reason: 'client-gone', rule, address: '', status: 0 });
    if (response.destroyed || client.destroyed) {
      left();
      return;
    }
    if (decision.kind === 'stop') {
      stop(decision.reason, rule, decision.address);
      return;
    }
    const options = { addresses: decision.addresses, port: read.target.port, limits: context.limits };
    const cancel = dial(options, asStream, (dialled) => {
      response.removeListener('close', gone);
      if (!dialled.ok) {
        stop(dialled.reason, rule, dialled.address);
        return;
      }
      const outcome = { reason: decision.reason, rule, address: dialled.address };
      const fields = requestFields(head.fields, read.target, incoming.headers['transfer-encoding'] !== undefined);
      const exchange = { incoming, response, account, upstream: dialled.socket, outcome };
      relay(exchange, send(head.method, read.path, fields, dialled.socket), context);
    });
    const gone = (): void => {
      cancel();
      left();
    };
    response.once('close', gone);
  });
}

const ignore = (): void => {};
const asStream = (): Record<string, never> => ({});

function send(method: string, path: string, fields: string[], socket: Socket): ClientRequest {
  const outgoing = httpRequest({
    method,
    path,
    headers: fields as unknown as Record<string, string>,
    setHost: false,
    createConnection: () => socket,
  });
  socket.resume();
  return outgoing;
}

function relay(exchange: Exchange, outgoing: ClientRequest, context: ProxyContext): void {
  const { incoming, response, account, upstream, outcome } = exchange;
  let whole = false;
  const fail = (reason: Reason): void => {
    upstream.destroy();
    account.decided({ ...outcome, reason, status: REASONS[reason].status });
    if (!response.headersSent) refuse(incoming, response, reason);
    // Half an answer cannot be mended: cutting it off tells the client that it is not whole.
    else if (!whole) response.destroy();
  };
  upstream.setTimeout(context.limits.answerMs, () => fail('upstream-timeout'));
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    fail(error.code?.startsWith('HPE_') ? 'upstream-malformed' : 'upstream-closed');
  });
  // No upgrade was asked for. Without this listener node:http closes in silence.
  outgoing.on('upgrade', () => fail('upstream-malformed'));
  outgoing.on('close', () => {
    if (!account.isDecided()) fail('upstream-closed');
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('response', (answer) => {
    answer.on('error', () => response.destroy());
    answer.on('end', () => {
      whole = answer.complete;
    });
    try {
      response.writeHead(answer.statusCode ?? 0, printable(answer.statusMessage), responseFields(answer.rawHeaders));
    } catch {
      // The parser takes some statuses and fields that the writer refuses (099, DEL in a value).
      fail('upstream-malformed');
      return;
    }
    account.decided({ ...outcome, status: answer.statusCode ?? 0 });
    answer.pipe(response);
  });
  response.sendDate = false;
  if (context.isDraining()) response.shouldKeepAlive = false;
  response.on('close', () => {
    if (!account.isDecided()) account.decided({ ...outcome, reason: 'client-gone', status: 0 });
    account.ended(upstream.bytesWritten, upstream.bytesRead);
    incoming.unpipe(outgoing);
    incoming.resume();
    outgoing.destroy();
    upstream.destroy();
  });
  incoming.pipe(outgoing);
}

/** Characters of a reason phrase that Node would refuse to write. */
function printable(text: string | undefined): string {
  return (text ?? '').replace(/[^\t\u0020-\u007e]/g, '');
}

function refuse(incoming: IncomingMessage, response: ServerResponse, reason: Reason): void {
  if (response.headersSent || response.destroyed) return;
  const { status } = REASONS[reason];
  if (!isWorthReading(incoming)) response.shouldKeepAlive = false;
  response.writeHead(status, answerFields(reason));
  response.end(incoming.method === 'HEAD' ? undefined : answerBody(reason));
  incoming.resume();
}

const MAX_UNWANTED = 1024 * 1024;

/**
 * A refused request's body is read and dropped, so that the answer arrives and the connection can serve the next one;
 * not a large one, and not one that waits for a 100 and may never come.
 */
function isWorthReading(incoming: IncomingMessage): boolean {
  return incoming.headers.expect === undefined && Number(incoming.headers['content-length'] ?? 0) <= MAX_UNWANTED;
}
