import type { Presence, Verdict } from './outcome.js';

/** The layer of containment that a claim belongs to (docs/design.md). */
export type Layer = 'cgroup' | 'uid' | 'bpf' | 'sandbox' | 'policy' | 'identity' | 'ledger';

/** One prerequisite, answered. */
export interface PrerequisiteResult {
  readonly id: string;
  readonly presence: Presence;
  /** What was found, in a few words: a version, a number. Empty where nothing was. */
  readonly found: string;
  readonly reason: string;
  /** The command that mends it; null where it is present. */
  readonly fix: string | null;
}

/** One claim, judged. */
export interface ClaimResult {
  readonly id: string;
  readonly tenant: string;
  readonly claim: string;
  readonly layer: Layer;
  readonly verdict: Verdict;
  readonly reason: string;
  /** Raw observations that the verdict rests on. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** The command that mends it; null where it is proven. */
  readonly hint: string | null;
}

/** The figures of one claim's attempts that have to agree. Null: this figure does not apply to the claim. */
export interface LedgerRow {
  readonly claim: string;
  readonly tenant: string;
  readonly expectation: 'refused' | 'allowed';
  readonly attempts: number;
  /** Packets (for the proxy and inbound: connections) that were made; the others were stopped before one was. */
  readonly sent: number;
  readonly counter: string | null;
  readonly counted: number | null;
  readonly proxyLines: number | null;
  readonly arrivals: number | null;
  readonly controlAttempts: number;
  readonly controlArrivals: number;
  readonly balanced: boolean;
}

/** What a verify run says while it runs; every output format is a rendering of this stream. */
export type VerifyEvent =
  | {
      readonly type: 'started';
      readonly schema: 'watertight/verify/1';
      readonly host: string;
      readonly tenants: readonly string[];
      readonly at: string;
      readonly version: string;
      /** SHA-256 of the profile that this host was made from; absent where a controller speaks. */
      readonly profileDigest?: string;
    }
  | { readonly type: 'progress'; readonly text: string }
  | ({ readonly type: 'prerequisite' } & PrerequisiteResult)
  | ({ readonly type: 'claim' } & ClaimResult)
  | ({ readonly type: 'ledger' } & LedgerRow)
  /** Something kept the run from telling: host down, no permission, cut off. */
  | { readonly type: 'failure'; readonly kind: string; readonly reason: string; readonly fix: string | null }
  | { readonly type: 'finished'; readonly exit: number; readonly durationMs: number };

/** The event of one type. */
export type EventOf<T extends VerifyEvent['type']> = Extract<VerifyEvent, { type: T }>;
