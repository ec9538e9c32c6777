import type { Attempt } from './attempt.js';

/** A packet that came to the far sink, whatever its protocol. */
export interface FarArrival {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  /** The packet's last bytes, where a nonce would be. */
  readonly payload: string;
}

export interface FarReport {
  readonly arrivals: readonly FarArrival[];
  /** Nonces that TCP peers sent and got back. */
  readonly echoes: readonly string[];
}

/** A connection that one of the verifier's listeners on the host took. */
export interface NearArrival {
  readonly address: string;
  readonly port: number;
  /** What the peer sent first; grows as it comes. */
  data: string;
}

/** Everything that came to the verifier's sinks in a stretch of time. */
export interface Arrivals {
  readonly far: FarReport;
  readonly near: readonly NearArrival[];
}

/** How the far sink calls the protocol of an attempt; null for those that go through the proxy or listen. */
function protocolOf(attempt: Attempt): string | null {
  switch (attempt.kind) {
    case 'tcp':
    case 'udp':
    case 'udplite':
    case 'icmp':
      return attempt.kind;
    case 'raw':
      return String(attempt.protocol);
    case 'listen':
    case 'door':
    case 'proxy-http':
    case 'proxy-connect':
      return null;
  }
}

/**
 * Counts what of these confined attempts arrived. A packet needs no nonce to count: the first packet of a connection has
 * none, and while they are made nobody else sends to the sinks' addresses.
 */
export function arrivalsOf(attempts: readonly Attempt[], { far, near }: Arrivals): number {
  const farOnes = far.arrivals.filter((arrival) => attempts.some((attempt) => cameFrom(attempt, arrival)));
  const nearOnes = near.filter((arrival) => attempts.some((attempt) => reached(attempt, arrival)));
  return farOnes.length + nearOnes.length;
}

function cameFrom(attempt: Attempt, arrival: FarArrival): boolean {
  if (protocolOf(attempt) !== arrival.protocol || attempt.address !== arrival.address) return false;
  return attempt.kind === 'icmp' || attempt.kind === 'raw' || attempt.port === arrival.port;
}

function reached(attempt: Attempt, arrival: NearArrival): boolean {
  if (attempt.kind === 'tcp') return attempt.address === arrival.address && attempt.port === arrival.port;
  return arrival.data.includes(attempt.nonce);
}

/** Counts the controls that arrived: by nonce alone, so that nothing else can stand in for one. */
export function controlArrivalsOf(attempts: readonly Attempt[], { far, near }: Arrivals): number {
  const arrived = ({ nonce }: Attempt): boolean =>
    far.echoes.includes(nonce) ||
    far.arrivals.some(({ payload }) => payload.includes(nonce)) ||
    near.some(({ data }) => data.includes(nonce));
  return attempts.filter(arrived).length;
}
