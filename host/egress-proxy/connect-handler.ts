import type { Socket } from 'node:net';
import { answerAndClose, CONNECTED } from './answer.js';
import { hostText } from './authority.js';
import { decide } from './decide.js';
import type { Account } from './decision-line.js';
import { dial } from './dial.js';
import type { Head } from './head.js';
import { accountFor, type ProxyContext } from './proxy-context.js';
import { REASONS, type Reason } from './reasons.js';
import { readRequest } from './request.js';
import { downlink, tunnel } from './tunnel.js';

/** A refused client may take this long, in ms, to read the answer. */
const LINGER_MS = 5000;

/**
 * Serves one CONNECT: decides, connects, answers, and joins the two.
 *
 * @param client has an error listener already, and no reader
 * @param early bytes that came behind the head
 */
export function serveConnect(context: ProxyContext, client: Socket, head: Head, early: Buffer): void {
  const request = readRequest(head);
  const host = request.ok ? hostText(request.target.host) : request.host;
  const port = request.ok ? request.target.port : request.port;
  const account = accountFor(context, client, head.method, host, port);
  client.pause();
  if (!request.ok) {
    stop(client, account, request.reason, '', '');
    return;
  }
  if (context.isDraining()) {
    stop(client, account, 'shutting-down', '', '');
    return;
  }
  void decide(request.target, context.policy(), context.world).then((decision) => {
    if (client.destroyed)
      return account.decided({ reason: 'client-gone', rule: decision.rule, address: '', status: 0 });
    if (decision.kind === 'stop') {
      stop(client, account, decision.reason, decision.rule, decision.address);
      return;
    }
    const { addresses, reason, rule } = decision;
    const cancel = dial({ addresses, port: request.target.port, limits: context.limits }, downlink, (dialled) => {
      client.removeListener('close', left);
      if (!dialled.ok) {
        stop(client, account, dialled.reason, rule, dialled.address);
        return;
      }
      account.decided({ reason, rule, address: dialled.address, status: 200 });
      client.write(CONNECTED);
      if (early.length > 0) dialled.socket.write(early);
      tunnel(client, dialled.socket, dialled.reader, context.limits, (carried) =>
        account.ended(carried.up, carried.down),
      );
    });
    const left = (): void => {
      cancel();
      account.decided({ reason: 'client-gone', rule, address: '', status: 0 });
    };
    client.once('close', left);
  });
}

function stop(client: Socket, account: Account, reason: Reason, rule: string, address: string): void {
  account.decided({ reason, rule, address, status: REASONS[reason].status });
  answerAndClose(client, reason, LINGER_MS);
}
