import { createServer, type ListenOptions, type Socket } from 'node:net';
import { admission } from './admission.js';
import { answerAndClose } from './answer.js';
import type { World } from './decide.js';
import { descriptorLimit, shareDescriptors } from './descriptors.js';
import { type FiguresNow, figures } from './figures.js';
import { receive } from './front.js';
import { DEFAULT_LIMITS, type Limits } from './limits.js';
import { ownAddresses } from './own-addresses.js';
import { plainHttp } from './plain-http.js';
import type { Policy } from './policy.js';
import { accountForRefusal, type ProxyContext } from './proxy-context.js';
import { rateLimit } from './rate.js';
import { REASONS } from './reasons.js';
import { systemLookup } from './resolve.js';

export interface ProxyOptions {
  readonly policy: Policy;
  readonly writeLine: (line: string) => void;
  readonly limits?: Partial<Limits>;
  /** Resolver and own addresses, where not the system's. */
  readonly world?: Partial<World>;
  /** Descriptors that the process may hold, where not the system's figure. */
  readonly descriptors?: number;
}

export interface EgressProxy {
  /** Listens; the address it listens on. May be called for several inherited descriptors. */
  readonly listen: (where: ListenOptions | { readonly fd: number }) => Promise<{ host: string; port: number }>;
  readonly setPolicy: (policy: Policy) => void;
  /** The one in force. */
  readonly policy: () => Policy;
  /** Open connections of clients. */
  readonly open: () => number;
  readonly figures: () => FiguresNow;
  /**
   * Takes no more connections, lets open ones end, cuts off what is left after the drain time. A connection that was
   * taken is served, also where its request comes only now: the next process cannot see it.
   */
  readonly drain: () => Promise<void>;
  /** Cuts off everything now. */
  readonly cut: () => void;
}

const LINGER_MS = 1000;
const ignore = (): void => {};

/** Makes the proxy of one tenant. */
export function createProxy(options: ProxyOptions): EgressProxy {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  let policy = options.policy;
  let draining = false;
  const tally = figures();
  const clients = admission(
    () => policy.limits.connections ?? limits.connections,
    shareDescriptors(options.descriptors ?? descriptorLimit()),
  );
  const context: ProxyContext = {
    policy: () => policy,
    limits,
    writeLine: options.writeLine,
    figures: tally,
    isDraining: () => draining,
    mayRequest: rateLimit(() => policy.limits.requests_per_second ?? limits.requestsPerSecond),
    world: { lookup: systemLookup, isOwn: ownAddresses(), resolveMs: limits.resolveMs, ...options.world },
  };
  const http = plainHttp(context);
  const servers: ReturnType<typeof createServer>[] = [];

  const accept = (socket: Socket): void => {
    // First of all: a reset may come at any time, and an error without a listener ends the process.
    socket.on('error', ignore);
    const refusal = clients.admit(socket);
    if (refusal === null) {
      receive(context, http, socket);
      return;
    }
    accountForRefusal(context, socket, refusal.reason, REASONS[refusal.reason].status);
    answerAndClose(socket, refusal.reason, refusal.linger ? LINGER_MS : 0);
  };
  const cut = (): void => {
    for (const socket of clients.open) socket.destroy();
    http.close();
  };
  return {
    listen: (where) => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
      servers.push(server);
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(where, () => {
          server.removeListener('error', reject);
          // accept(2) may fail for a moment (out of descriptors): the listener stays.
          server.on('error', ignore);
          const address = server.address();
          const known = typeof address === 'object' && address !== null ? address : { address: '', port: 0 };
          resolve({ host: known.address, port: known.port });
        });
      });
    },
    setPolicy: (next) => {
      policy = next;
    },
    policy: () => policy,
    open: () => clients.open.size,
    figures: tally.now,
    drain: async () => {
      draining = true;
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      http.closeIdle();
      const deadline = setTimeout(cut, limits.drainMs);
      await Promise.all(closed);
      clearTimeout(deadline);
      http.close();
    },
    cut,
  };
}
