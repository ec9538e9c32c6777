import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Authority, hostText } from './authority.js';
import { type Decision, decide } from './decide.js';
import type { Account, Outcome, Spent } from './decision-line.js';
import { dial, type Reader } from './dial.js';
import type { Head } from './head.js';
import { accountFor, type ProxyContext } from './proxy-context.js';
import { type DenyReason, type PassReason, REASONS, type Reason } from './reasons.js';
import { readRequest } from './request.js';

/** A request that was allowed and connected. Its decision line is not written yet. */
export interface Established<R extends Reader> {
  readonly target: Authority;
  readonly path: string;
  readonly account: Account;
  readonly upstream: Socket;
  readonly reader: R;
  readonly outcome: Omit<Outcome, 'status' | 'reason'> & { readonly reason: PassReason };
}

/** One request on its way to a decision, and what to do with it. */
export interface Approach<R extends Reader> {
  readonly context: ProxyContext;
  readonly client: Socket;
  readonly head: Head;
  /** What closes when the client leaves. */
  readonly leaving: Socket | ServerResponse;
  readonly makeReader: () => R;
  /** Answers the client; the line is written. */
  readonly refuse: (reason: Reason) => void;
  readonly connected: (established: Established<R>) => void;
}

/** Takes a request from its head to a connection: reads it, decides, connects. Each way out writes one decision line. */
export function establish<R extends Reader>(approach: Approach<R>): void {
  const { context, client, head } = approach;
  const request = readRequest(head);
  const host = request.ok ? hostText(request.target.host) : request.host;
  const port = request.ok ? request.target.port : request.port;
  const account = accountFor(context, client, head.method, host, port);
  const limit = overLimit(context, head);
  if (limit !== null) {
    stop(approach, account, refusalFor(limit));
    return;
  }
  if (!request.ok) {
    stop(approach, account, refusalFor(request.reason));
    return;
  }
  const { target, path } = request;
  void decide(target, head.method, context.policy(), context.world).then((decision) => {
    const { reason, rule, dnsMs } = decision;
    if (client.destroyed || approach.leaving.destroyed) {
      leave(account, rule, { dnsMs, connectMs: 0 });
    } else if (decision.kind === 'stop') {
      stop(approach, account, { reason, rule, address: decision.address, spent: { dnsMs, connectMs: 0 } });
    } else {
      connectTo(approach, account, { target, path }, decision);
    }
  });
}

function connectTo<R extends Reader>(
  approach: Approach<R>,
  account: Account,
  { target, path }: Pick<Established<R>, 'target' | 'path'>,
  { addresses, reason, rule, dnsMs }: Decision & { readonly kind: 'route' },
): void {
  const startedAt = performance.now();
  const spent = () => ({ dnsMs, connectMs: performance.now() - startedAt });
  const options = { addresses, port: target.port, limits: approach.context.limits };
  const cancel = dial(options, approach.makeReader, (dialled) => {
    approach.leaving.removeListener('close', left);
    const { address } = dialled;
    if (!dialled.ok) {
      stop(approach, account, { reason: dialled.reason, rule, address, spent: spent() });
      return;
    }
    const outcome = { reason, rule, address, spent: spent() };
    approach.connected({ target, path, account, upstream: dialled.socket, reader: dialled.reader, outcome });
  });
  const left = (): void => {
    cancel();
    leave(account, rule, spent());
  };
  approach.leaving.once('close', left);
}

function overLimit({ mayRequest, limits }: ProxyContext, { fields }: Head): DenyReason | null {
  if (!mayRequest()) return 'limit-requests';
  return fields.length > 2 * limits.headFields ? 'request-too-large' : null;
}

/** What is refused before any rule was asked. */
function refusalFor(reason: DenyReason): Omit<Outcome, 'status'> {
  return { reason, rule: '', address: '' };
}

function stop<R extends Reader>(approach: Approach<R>, account: Account, outcome: Omit<Outcome, 'status'>): void {
  account.decided({ ...outcome, status: REASONS[outcome.reason].status });
  approach.refuse(outcome.reason);
}

function leave(account: Account, rule: string, spent: Spent): void {
  account.decided({ reason: 'client-gone', rule, address: '', status: 0, spent });
}
