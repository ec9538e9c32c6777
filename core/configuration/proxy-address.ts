import { createHash } from 'node:crypto';

/** Port of a tenant's proxy, where the configuration names no other. */
export const PROXY_PORT = 3128;

/** Where the verifier's own sinks listen while it runs; no proxy may stand there. */
export const SINK_ADDRESS = '127.63.0.1';
/**
 * The ports of it, for plain HTTP and for tunnels. The names that lead there are listed always, and the sinks listen only
 * during verification: so below 1024, where root alone can listen, and not 80 or 443, where a web server of the host
 * that listens on all addresses would be found.
 */
export const SINK_PORTS = { http: 1013, tunnel: 1014 } as const;

/**
 * The tenant's own loopback address: out of 127.64.0.0/10, where nothing else listens, because the slice's BPF filter
 * knows addresses but no ports. Derived from the name alone, so that a host keeps it whoever else lives there.
 */
export function deriveProxyAddress(tenant: string): string {
  const digest = createHash('sha256').update(`watertight proxy ${tenant}`).digest();
  const second = 64 + (digest.readUInt8(0) & 0x3f);
  const last = 1 + (digest.readUInt16BE(2) % 254);
  return `127.${second}.${digest.readUInt8(1)}.${last}`;
}

/** True for an address that a tenant's proxy may have: in 127.64.0.0/10, last number 1 to 254, one spelling only. */
export function isProxyAddress(text: string): boolean {
  const match = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!match) return false;
  const [second, third, last] = match.slice(1).map(Number) as [number, number, number];
  const oneSpelling = text === `127.${second}.${third}.${last}`;
  return oneSpelling && second >= 64 && second <= 127 && third <= 255 && last >= 1 && last <= 254;
}
