import { SINK_ADDRESS, SINK_PORTS } from '../core/configuration/proxy-address.js';
import type { TenantProfile } from '../profiles/profile.js';

/**
 * The verifier's own piece of network: a veth pair into a network namespace that holds the sink. The addresses are the
 * documentation's (RFC 5737, RFC 3849), which nothing real uses, and those of the metadata services that clouds offer.
 */
export const SCRATCH = {
  interface: 'wt-sink0',
  host4: '198.51.100.1',
  sink4: '198.51.100.2',
  host6: '2001:db8:5731::1',
  sink6: '2001:db8:5731::2',
  /** Routed to the sink only for packets that come from our own end, so a real service there is not disturbed. */
  metadata4: '169.254.169.254',
  metadata6: 'fd00:ec2::254',
  routeTable: 5731,
  tcpPorts: [57310, 8888],
  udpPorts: [53, 443, 3478],
} as const;

/** Where listed names lead during verification (profiles' policy pins them). */
export const PINNED = { address: SINK_ADDRESS, ports: SINK_PORTS } as const;
export const LISTED_SUFFIX = 'sink.watertight.invalid';
export const UNLISTED_SUFFIX = 'unlisted.watertight.invalid';

/** A listener of the verifier's on the host itself. */
export interface NearSink {
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
}

/** What a claim needs to know to write its attempts. */
export interface Scene {
  readonly tenant: TenantProfile;
  readonly loopback: readonly NearSink[];
  readonly own: readonly NearSink[];
  /** Files of the verifier's where programs of a host share: a confined one must not see them. */
  readonly markers: readonly string[];
}
