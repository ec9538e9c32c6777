import type { Socket } from 'node:net';
import type { DescriptorShare } from './descriptors.js';
import type { DenyReason } from './reasons.js';

/** A connection that is one too many. */
export interface Refusal {
  readonly reason: DenyReason & ('limit-connections' | 'limit-descriptors');
  /** Whether it may have time to read the answer: not where descriptors for answers are scarce too. */
  readonly linger: boolean;
}

/** Open connections, and whether one more may be served. */
export interface Admission {
  /** Notes a connection until it closes; null where it may be served. */
  readonly admit: (socket: Socket) => Refusal | null;
  /** All that are open, refused ones too. */
  readonly open: ReadonlySet<Socket>;
}

/** @param wanted connections that the limits allow, asked anew for each */
export function admission(wanted: () => number, descriptors: DescriptorShare): Admission {
  const open = new Set<Socket>();
  /** Those among them that are only told that they are too many. */
  let refused = 0;
  const admit = (socket: Socket): Refusal | null => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const limit = wanted();
    if (open.size - refused <= Math.min(limit, descriptors.served)) return null;
    refused += 1;
    socket.once('close', () => {
      refused -= 1;
    });
    const reason = descriptors.served < limit ? 'limit-descriptors' : 'limit-connections';
    return { reason, linger: refused <= descriptors.answered };
  };
  return { admit, open };
}
