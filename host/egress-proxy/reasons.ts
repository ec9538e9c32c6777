/** What a reason means for the client: the proxy's verdict, the status it answers with, and a few words for people. */
interface ReasonMeaning {
  readonly verdict: 'allow' | 'deny';
  /** Status of the proxy's own answer. For `allow` reasons that reach the far side it is what CONNECT answers. */
  readonly status: number;
  /** Said to the client: nothing of the policy beyond the fact. */
  readonly text: string;
}

/**
 * The closed list of machine reasons. Every decision line, every x-watertight-reason header and every test names one of
 * these; a reason that is not here cannot be written. `allow` with a status of 502 or 504 means: the policy let it pass,
 * the far side failed.
 */
export const REASONS = {
  allowed: { verdict: 'allow', status: 200, text: 'Connection established' },
  pinned: { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-not-listed': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-port-not-listed': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-deny-listed': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-method-not-listed': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-sni-mismatch': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-sni-absent': { verdict: 'allow', status: 200, text: 'Connection established' },
  'report-sni-unreadable': { verdict: 'allow', status: 200, text: 'Connection established' },

  'not-listed': { verdict: 'deny', status: 403, text: 'This host is not on the allowlist' },
  'port-not-listed': { verdict: 'deny', status: 403, text: 'This port is not on the allowlist' },
  'deny-listed': { verdict: 'deny', status: 403, text: 'This host is denied' },
  'method-not-listed': { verdict: 'deny', status: 403, text: 'This method is not allowed' },
  'policy-empty': { verdict: 'deny', status: 403, text: 'The policy allows nothing' },
  'policy-missing': { verdict: 'deny', status: 403, text: 'There is no policy, so nothing is allowed' },
  'address-not-listed': { verdict: 'deny', status: 403, text: 'Addresses are not allowed; use a host name' },
  'address-spelling': { verdict: 'deny', status: 403, text: 'This is an address in an unusual spelling' },
  'address-forbidden': { verdict: 'deny', status: 403, text: 'The address is not a public one' },
  'address-own': { verdict: 'deny', status: 403, text: 'The address is this host itself' },
  'own-addresses-unknown': { verdict: 'deny', status: 403, text: 'The addresses of this host cannot be told' },

  // These come after the 200 of CONNECT; the status is what the answer would be.
  'sni-mismatch': { verdict: 'deny', status: 403, text: 'The TLS server name is not the host of the CONNECT' },
  'sni-absent': { verdict: 'deny', status: 403, text: 'The TLS hello names no server' },
  'sni-unreadable': { verdict: 'deny', status: 403, text: 'What was sent is not a TLS hello that can be read' },

  'request-malformed': { verdict: 'deny', status: 400, text: 'Malformed request' },
  'request-too-large': { verdict: 'deny', status: 431, text: 'The request head is too large' },
  'request-timeout': { verdict: 'deny', status: 408, text: 'The request head took too long' },
  'target-not-absolute': { verdict: 'deny', status: 400, text: 'This is a proxy: send an absolute http:// target' },
  'scheme-unsupported': { verdict: 'deny', status: 400, text: 'Only http:// targets; use CONNECT for others' },
  'authority-invalid': { verdict: 'deny', status: 400, text: 'The host and port cannot be read' },
  'authority-userinfo': { verdict: 'deny', status: 400, text: 'User information in the target is refused' },
  'name-invalid': { verdict: 'deny', status: 400, text: 'The host name is not a valid one' },
  'port-missing': { verdict: 'deny', status: 400, text: 'CONNECT needs a port' },
  'port-invalid': { verdict: 'deny', status: 400, text: 'The port is not between 1 and 65535' },
  'host-missing': { verdict: 'deny', status: 400, text: 'The Host header is missing' },
  'host-repeated': { verdict: 'deny', status: 400, text: 'More than one Host header' },
  'host-mismatch': { verdict: 'deny', status: 400, text: 'The Host header and the target differ' },
  'body-unexpected': { verdict: 'deny', status: 400, text: 'CONNECT takes no body' },
  'expectation-unsupported': { verdict: 'deny', status: 417, text: 'Unknown expectation' },
  'limit-connections': { verdict: 'deny', status: 503, text: 'Too many connections' },
  'limit-descriptors': { verdict: 'deny', status: 503, text: 'Too many connections for the descriptors there are' },
  'limit-requests': { verdict: 'deny', status: 429, text: 'Too many requests a second' },

  'resolve-failed': { verdict: 'allow', status: 502, text: 'The name does not resolve' },
  'resolve-timeout': { verdict: 'allow', status: 504, text: 'Resolving the name took too long' },
  'connect-refused': { verdict: 'allow', status: 502, text: 'The far side refused the connection' },
  'connect-unreachable': { verdict: 'allow', status: 502, text: 'The far side is unreachable' },
  'connect-timeout': { verdict: 'allow', status: 504, text: 'Connecting to the far side took too long' },
  'connect-failed': { verdict: 'allow', status: 502, text: 'Connecting to the far side failed' },
  'upstream-closed': { verdict: 'allow', status: 502, text: 'The far side closed without an answer' },
  'upstream-malformed': { verdict: 'allow', status: 502, text: 'The far side sent a malformed answer' },
  'body-timeout': { verdict: 'allow', status: 408, text: 'The body of the request took too long' },
  'upstream-timeout': { verdict: 'allow', status: 504, text: 'The far side took too long to answer' },
  'client-gone': { verdict: 'allow', status: 0, text: 'The client left before there was an answer' },
} as const satisfies Record<string, ReasonMeaning>;

export type Reason = keyof typeof REASONS;

type Having<V, K extends Reason = Reason> = K extends Reason
  ? (typeof REASONS)[K] extends { readonly verdict: V }
    ? K
    : never
  : never;
type Answering<S, K extends Reason = Reason> = K extends Reason
  ? (typeof REASONS)[K] extends { readonly status: S }
    ? K
    : never
  : never;

/** Reasons for which the connection is made. */
export type PassReason = Answering<200>;
/** Reasons for which it is not, by the proxy's own decision. */
export type DenyReason = Having<'deny'>;
/** Reasons for which the policy let it pass and the far side (or the client) did not. */
export type FaultReason = Exclude<Reason, PassReason | DenyReason>;
