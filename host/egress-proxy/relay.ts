import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Ending } from './decision-line.js';
import type { Established } from './establish.js';
import { responseFields } from './forward-headers.js';
import type { ProxyContext } from './proxy-context.js';
import { REASONS, type Reason } from './reasons.js';
import { refuse } from './refuse.js';

/** Both ends of one plain HTTP exchange that has been decided and connected. */
export interface Exchange extends Pick<Established<object>, 'account' | 'outcome' | 'upstream'> {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly outgoing: ClientRequest;
}

/** Carries the request's body to the far side and its answer back; writes the decision line when the answer is known. */
export function relay(exchange: Exchange, context: ProxyContext): void {
  const { incoming, response, outgoing, account, upstream, outcome } = exchange;
  let silent = false;
  upstream.setTimeout(context.limits.answerMs, () => {
    silent = true;
    fail(exchange, 'upstream-timeout');
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    fail(exchange, error.code?.startsWith('HPE_') ? 'upstream-malformed' : 'upstream-closed');
  });
  // No upgrade was asked for. Without this listener node:http closes in silence.
  outgoing.on('upgrade', () => fail(exchange, 'upstream-malformed'));
  outgoing.on('close', () => {
    if (!account.isDecided()) fail(exchange, 'upstream-closed');
  });
  outgoing.on('continue', () => response.writeContinue());
  watchBody(exchange, context.limits.bodyMs);
  outgoing.on('response', (answer) => passOn(exchange, answer));
  response.sendDate = false;
  if (context.isDraining()) response.shouldKeepAlive = false;
  response.on('close', () => {
    if (!account.isDecided()) account.decided({ ...outcome, reason: 'client-gone', status: 0 });
    account.ended(upstream.bytesWritten, upstream.bytesRead, endingOf(response, silent));
    incoming.unpipe(outgoing);
    incoming.resume();
    outgoing.destroy();
    upstream.destroy();
  });
  incoming.pipe(outgoing);
}

function endingOf(response: ServerResponse, silent: boolean): Ending {
  if (silent) return 'idle';
  return response.writableFinished ? 'closed' : 'reset';
}

/** A client that stops in the middle of its body is told so. Not one that waits for a 100, or that the far side holds up. */
function watchBody(exchange: Exchange, bodyMs: number): void {
  const { incoming, response, outgoing } = exchange;
  const { headers } = incoming;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      if (outgoing.writableNeedDrain) {
        timer?.refresh();
        return;
      }
      response.shouldKeepAlive = false;
      fail(exchange, 'body-timeout');
    }, bodyMs);
  };
  const end = (): void => clearTimeout(timer);
  if (headers.expect === undefined) begin();
  else outgoing.once('continue', begin);
  incoming.on('data', () => timer?.refresh());
  incoming.once('end', end);
  incoming.once('close', end);
  response.once('close', end);
}

function passOn(exchange: Exchange, answer: IncomingMessage): void {
  const { response, account, outcome } = exchange;
  const status = answer.statusCode ?? 0;
  // Half an answer cannot be mended: cutting it off tells the client that it is not whole.
  answer.on('error', () => response.destroy());
  try {
    response.writeHead(status, printable(answer.statusMessage), responseFields(answer.rawHeaders));
  } catch {
    // The parser takes some statuses and fields that the writer refuses (099, DEL in a value).
    fail(exchange, 'upstream-malformed');
    return;
  }
  account.decided({ ...outcome, status });
  answer.pipe(response);
}

function fail({ incoming, response, account, upstream, outcome }: Exchange, reason: Reason): void {
  upstream.destroy();
  account.decided({ ...outcome, reason, status: REASONS[reason].status });
  refuse(incoming, response, reason);
}

/** Characters of a reason phrase that Node would refuse to write. */
function printable(text: string | undefined): string {
  return (text ?? '').replace(/[^\t\u0020-\u007e]/g, '');
}
