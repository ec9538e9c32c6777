import { newNonce } from '../../core/nonce.js';
import type { TenantProfile } from '../../profiles/profile.js';
import type { Attempt, AttemptKind } from '../attempt.js';
import { PINNED, SCRATCH } from '../scene.js';

/**
 * Far below the first retransmission of a SYN after 1 s (RFC 6298), so that one attempt is one packet; a refusal over IPv6
 * is not reported before that retransmission, and shows as silence. A connection that needs longer than this is not missed:
 * its first packet is seen at the sink, and by the counter.
 */
const DIRECT_DEADLINE_MS = 150;
const PROXY_DEADLINE_MS = 3000;

/** An attempt with a nonce of its own. Its id says which claim and what is tried. */
export function attempt(claim: string, kind: AttemptKind, family: 4 | 6, address: string, port: number): Attempt {
  const nonce = newNonce('n');
  const place = family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  return { id: `${claim} ${kind} ${place} ${nonce}`, kind, family, address, port, nonce, deadline: DIRECT_DEADLINE_MS };
}

/** A TCP connection past the proxy. */
export function directTcp(claim: string, family: 4 | 6, address: string, port: number): Attempt {
  return attempt(claim, 'tcp', family, address, port);
}

/** One datagram to each port that the sink answers on. */
export function datagrams(claim: string, family: 4 | 6, address: string): Attempt[] {
  return SCRATCH.udpPorts.map((port) => ({ ...attempt(claim, 'udp', family, address, port), answered: true }));
}

/** A request to the tenant's proxy for a name of its own below `suffix`. */
export function throughProxy(
  claim: string,
  kind: 'proxy-http' | 'proxy-connect',
  tenant: TenantProfile,
  suffix: string,
): Attempt {
  const made = attempt(claim, kind, 4, tenant.proxy.address, tenant.proxy.port);
  const port = kind === 'proxy-http' ? PINNED.ports.http : PINNED.ports.tunnel;
  return { ...made, name: `${made.nonce}.${suffix}`, namePort: port, deadline: PROXY_DEADLINE_MS };
}

/** The control of a refusal: the same attempts, with nonces of their own. */
export function sameUnconfined(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.map((original) => {
    const nonce = newNonce('n');
    return { ...original, nonce, id: `control ${original.id.replace(original.nonce, nonce)}`, deadline: 2000 };
  });
}

/** The control of what goes through the proxy: the sink behind the listed name answers, so only the proxy decides. */
export function toSinkDirectly(): readonly Attempt[] {
  return [PINNED.ports.http, PINNED.ports.tunnel].map((port) => ({
    ...attempt('control', 'tcp', 4, PINNED.address, port),
    deadline: 2000,
  }));
}
