import type { Socket } from 'node:net';
import { answerAndClose, CONNECTED } from './answer.js';
import { establish } from './establish.js';
import type { Head } from './head.js';
import type { ProxyContext } from './proxy-context.js';
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
  client.pause();
  establish({
    context,
    client,
    head,
    leaving: client,
    makeReader: downlink,
    refuse: (reason) => answerAndClose(client, reason, LINGER_MS),
    connected: ({ account, outcome, upstream, reader }) => {
      account.decided({ ...outcome, status: 200 });
      client.write(CONNECTED);
      if (early.length > 0) upstream.write(early);
      context.figures.tunnelOpened();
      tunnel(client, upstream, reader, context.limits, ({ up, down, ending }) => {
        context.figures.tunnelClosed();
        account.ended(up, down, ending);
      });
    },
  });
}
