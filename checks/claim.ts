import type { Layer } from '../core/events.js';
import type { Verdict } from '../core/outcome.js';
import type { CounterKind } from '../profiles/names.js';
import type { Attempt, Observation } from './attempt.js';
import type { HostState } from './host-state.js';
import type { Scene } from './scene.js';

interface ClaimBase {
  /** Stable: reports, waivers and other programs refer to it. */
  readonly id: string;
  /** One sentence, true where the claim is proven. */
  readonly claim: string;
  readonly layer: Layer;
  /** The command that mends it, on the controller. */
  readonly hint: string;
}

/** A claim about what a confined process can do, proven by trying. */
export interface AttemptClaim extends ClaimBase {
  readonly type: 'attempt';
  readonly expectation: 'refused' | 'allowed' | 'denied-by-proxy';
  /** The named counter that has to count every packet of it; null where none is sent. */
  readonly counter: CounterKind | null;
  readonly attempts: (scene: Scene) => readonly Attempt[];
  /** What shows that the refusal means something: the same attempts, unless the claim says otherwise. */
  readonly control: (attempts: readonly Attempt[], scene: Scene) => readonly Attempt[];
  readonly judge: (observed: Observed) => Judgement;
}

/** A claim about what the kernel holds, proven by reading it back. */
export interface StateClaim extends ClaimBase {
  readonly type: 'state';
  readonly judge: (state: HostState) => Judgement;
}

/** The claim that the figures of a whole run agree: no packet was counted that was not sent, and none was missed. */
export interface LedgerClaim extends ClaimBase {
  readonly type: 'ledger';
  readonly judge: (totals: Totals) => Judgement;
}

export type Claim = AttemptClaim | StateClaim | LedgerClaim;

/** What all attempts of a run should have moved the tenant's counters by, and what they moved by. */
export interface Totals {
  readonly due: Readonly<Record<CounterKind, number>>;
  readonly counters: CounterReading;
}

/** Everything that was seen of one claim's attempts. */
export interface Observed {
  readonly attempts: readonly Attempt[];
  readonly confined: readonly Observation[];
  /** Why there was no confined child; null where there was one. */
  readonly childProblem: string | null;
  /** How far each named counter moved meanwhile, or why that is not known. */
  readonly counters: CounterReading;
  /** Arrivals at the sinks that carry these attempts' addresses or nonces, the control's apart. */
  readonly arrivals: number;
  readonly control: readonly Observation[];
  readonly controlAttempts: number;
  readonly controlArrivals: number;
  /** The proxy's decision lines that name these attempts; null where the proxy is not in question. */
  readonly proxyLines: readonly ProxyLine[] | null;
}

export type CounterReading =
  | { readonly kind: 'read'; readonly moved: Readonly<Partial<Record<CounterKind, number>>> }
  | { readonly kind: 'absent'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface ProxyLine {
  readonly host: string;
  readonly verdict: string;
  readonly reason: string;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
}
