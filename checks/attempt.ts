/** What the child program (host/confined-child/child.py) can try. */
export type AttemptKind =
  | 'tcp'
  | 'udp'
  | 'udplite'
  | 'icmp'
  | 'raw'
  | 'listen'
  | 'door'
  | 'proxy-http'
  | 'proxy-connect';

/** One thing to try, confined and as the control. Written as JSON to the child. */
export interface Attempt {
  readonly id: string;
  readonly kind: AttemptKind;
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
  /** Travels in the payload or in the name, so that what arrives can be told from anything else. */
  readonly nonce: string;
  /** Milliseconds. For TCP below the first retransmission (1 s, RFC 6298 section 2), so that one attempt is one packet. */
  readonly deadline: number;
  /** Address to send from; chooses the route to the sinks that stand in for link-local services. */
  readonly source?: string;
  /** IP protocol number of a raw attempt. */
  readonly protocol?: number;
  /** Host name to ask the proxy for. */
  readonly name?: string;
  /** Port of that name. */
  readonly namePort?: number;
  /** Listeners: how many connections to take before ending; absent: as many as come until the deadline. */
  readonly enough?: number;
  /** Doors: what to try on the host itself, or the file to look for. */
  readonly door?: string;
  readonly path?: string;
  /** Datagrams: whether the far side answers. */
  readonly answered?: boolean;
}

/** What came of an attempt, in the child's words. It judges nothing. */
export interface Observation {
  readonly id: string;
  /** How far it got: socket, bind, listen, connect, send, receive, done; `program` for a fault of the child. */
  readonly stage: string;
  readonly outcome: 'completed' | 'failed' | 'silent' | 'closed' | 'not-http' | 'error';
  /** The kernel's name for it, for example ECONNREFUSED. */
  readonly errno: string | null;
  readonly milliseconds: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Stages at which no packet can have left yet: what stopped there was the sandbox, not a rule. */
const BEFORE_A_PACKET: ReadonlySet<string> = new Set(['socket', 'bind', 'listen']);

/** Whether the attempt got as far as handing a packet to the kernel. */
export function reachedPacket(observation: Observation): boolean {
  return observation.stage !== 'program' && !BEFORE_A_PACKET.has(observation.stage);
}

/** An observation in a few words, for example `connect: ECONNREFUSED`. */
export function describeObservation(observation: Observation): string {
  if (observation.outcome === 'completed') return 'completed';
  return `${observation.stage}: ${observation.errno ?? observation.outcome}`;
}
