import { networkInterfaces } from 'node:os';
import { destinationKey } from './address-bytes.js';

/** Answers whether an address is this host; null where that cannot be told. */
export type OwnAddress = (address: string) => boolean | null;

/** How long a reading of the interfaces is good for, in ms: short, because addresses come and go. */
const FRESH_MS = 2000;

/**
 * The host's own addresses, read when a decision needs them. It needs AF_NETLINK (getifaddrs(3)); where the sandbox
 * withholds it, the answer is null and the caller denies.
 */
export function ownAddresses(read: typeof networkInterfaces = networkInterfaces): OwnAddress {
  let known: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    const now = performance.now();
    if (now - readAt > FRESH_MS) {
      try {
        const interfaces = Object.values(read()).flatMap((list) => list ?? []);
        known = new Set(interfaces.map((one) => destinationKey(one.address)));
        readAt = now;
      } catch {
        return null;
      }
    }
    return known.has(destinationKey(address));
  };
}
