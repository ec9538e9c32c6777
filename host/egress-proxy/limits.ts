/** Bounds of one proxy. Times in ms. */
export interface Limits {
  /** A request head must be complete within this time, counted from its connection or from the answer before. */
  readonly headMs: number;
  /** Where TLS names are only reported, a tunnel whose client says nothing is held up this long. */
  readonly reportHelloMs: number;
  /** An HTTP connection may wait this long for its next request. */
  readonly keepAliveMs: number;
  readonly headBytes: number;
  readonly headFields: number;
  readonly resolveMs: number;
  /** For all addresses of a name together. */
  readonly connectMs: number;
  /** The next address is tried when the one before has not answered for this long (RFC 8305, section 8). */
  readonly attemptMs: number;
  /** The far side of a plain HTTP exchange may be silent this long, also in the middle of its answer. */
  readonly answerMs: number;
  /** A client may pause this long in the middle of a request's body. */
  readonly bodyMs: number;
  /** A tunnel may be silent this long. */
  readonly idleMs: number;
  /** A tunnel of which one direction has ended may be silent this long. */
  readonly halfClosedMs: number;
  readonly connections: number;
  /** On the average; as many may come at once. */
  readonly requestsPerSecond: number;
  /** What is still open this long after SIGTERM is cut off. */
  readonly drainMs: number;
  /** Decision lines that wait for a slow reader, in bytes; beyond it they are dropped and counted. */
  readonly logBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  headMs: 15_000,
  reportHelloMs: 1000,
  keepAliveMs: 75_000,
  headBytes: 32 * 1024,
  headFields: 100,
  resolveMs: 10_000,
  connectMs: 15_000,
  attemptMs: 250,
  answerMs: 300_000,
  bodyMs: 60_000,
  idleMs: 3_600_000,
  halfClosedMs: 60_000,
  connections: 20_000,
  requestsPerSecond: 10_000,
  drainMs: 10_000,
  logBytes: 4 * 1024 * 1024,
};
