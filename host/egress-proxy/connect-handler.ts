import type { Socket } from 'node:net';
import { answerAndClose, CONNECTED } from './answer.js';
import { awaitHello } from './await-hello.js';
import { type Established, establish } from './establish.js';
import type { Head } from './head.js';
import type { ProxyContext } from './proxy-context.js';
import { REPORTED_SNI, type SniFault, sniFault, sniModeOf } from './sni.js';
import { type Downlink, downlink, tunnel } from './tunnel.js';

/** A refused client may take this long, in ms, to read the answer. */
const LINGER_MS = 5000;

/**
 * Serves one CONNECT: decides, connects, answers, looks at the TLS hello where the policy asks for it, and joins the two.
 *
 * @param client has an error listener already, and no reader
 * @param early bytes that came behind the head
 */
export function serveConnect(context: ProxyContext, client: Socket, head: Head, early: Buffer): void {
  client.pause();
  establish({
    context,
    client,
    head,
    leaving: client,
    makeReader: downlink,
    refuse: (reason) => answerAndClose(client, reason, LINGER_MS),
    connected: (established) => {
      client.write(CONNECTED);
      const { outcome, target } = established;
      const mode = sniModeOf(context.policy(), outcome.reason);
      if (mode === 'off') {
        join(context, client, established, early);
        return;
      }
      const waitMs = mode === 'enforce' ? context.limits.headMs : context.limits.reportHelloMs;
      awaitHello(client, early, waitMs, (awaited) => {
        if (awaited.kind === 'gone') {
          leave(established);
          return;
        }
        const fault = sniFault(awaited.hello, target.host);
        if (fault !== null && mode === 'enforce') {
          cutOff(client, established, fault);
          return;
        }
        const reason = fault === null ? outcome.reason : REPORTED_SNI[fault];
        join(context, client, { ...established, outcome: { ...outcome, reason } }, awaited.bytes);
      });
    },
  });
}

type Connected = Established<Downlink>;

/** Writes the decision, forwards what came so far, and lets the two talk. */
function join(context: ProxyContext, client: Socket, connected: Connected, early: Buffer): void {
  const { account, outcome, upstream, reader } = connected;
  if (upstream.destroyed) {
    account.decided({ ...outcome, reason: 'upstream-closed', status: 200 });
    client.destroy();
    return;
  }
  account.decided({ ...outcome, status: 200 });
  if (early.length > 0) upstream.write(early);
  context.figures.tunnelOpened();
  tunnel(client, upstream, reader, context.limits, ({ up, down, ending }) => {
    context.figures.tunnelClosed();
    account.ended(up, down, ending);
  });
}

/** The client left while its hello was awaited: nothing went to the far side. */
function leave({ account, outcome, upstream, reader }: Connected): void {
  account.decided({ ...outcome, reason: 'client-gone', status: 200 });
  upstream.destroy();
  reader.close();
}

/** Alert of RFC 6066, section 3: fatal, unrecognized_name. Where nothing was TLS it is only a close. */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

function cutOff(client: Socket, { account, outcome, upstream, reader }: Connected, fault: SniFault): void {
  account.decided({ ...outcome, reason: fault, status: 200 });
  upstream.destroy();
  reader.close();
  const timer = setTimeout(() => client.destroy(), LINGER_MS);
  client.once('close', () => clearTimeout(timer));
  client.resume();
  client.end(fault === 'sni-unreadable' ? Buffer.alloc(0) : UNRECOGNIZED_NAME);
}
