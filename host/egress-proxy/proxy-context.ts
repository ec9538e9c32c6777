import type { Socket } from 'node:net';
import type { World } from './decide.js';
import { type Account, openAccount } from './decision-line.js';
import type { Figures } from './figures.js';
import type { Limits } from './limits.js';
import type { Policy } from './policy.js';
import type { Reason } from './reasons.js';

/** What the handlers of one proxy share. */
export interface ProxyContext {
  /** The policy in force; each request asks anew. */
  readonly policy: () => Policy;
  readonly world: World;
  readonly limits: Limits;
  readonly writeLine: (line: string) => void;
  readonly figures: Figures;
  readonly isDraining: () => boolean;
  /** Counts a request, and says whether its rate is still within the limit. */
  readonly mayRequest: () => boolean;
}

/** Opens the account of a request of this client. */
export function accountFor(context: ProxyContext, client: Socket, method: string, host: string, port: number): Account {
  const subject = { tenant: context.policy().tenant, client: clientName(client), method, host: shorten(host), port };
  return openAccount(subject, context.writeLine, context.figures);
}

/** Writes the one line of a request that got no further than its head. */
export function accountForRefusal(context: ProxyContext, client: Socket, reason: Reason, status: number): void {
  accountFor(context, client, '', '', 0).decided({ reason, rule: '', address: '', status });
}

function clientName(socket: Socket): string {
  return socket.remoteAddress === undefined ? '' : `${socket.remoteAddress}:${socket.remotePort ?? 0}`;
}

const MAX_HOST = 256;

function shorten(text: string): string {
  return text.length > MAX_HOST ? `${text.slice(0, MAX_HOST - 3)}...` : text;
}
