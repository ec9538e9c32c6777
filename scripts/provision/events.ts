import type { VerifyEvent } from '../../core/events.js';
import type { ExitCode } from '../../core/outcome.js';
import { version } from '../../core/version.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Change, ChangeKind } from '../../profiles/resources/change.js';
import type { TakenBack } from '../../profiles/resources/rollback.js';

/** A change as a plan shows it. */
export interface PlannedChange {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly summary: string;
  readonly diff: string | null;
}

/** What became of a host in the end. */
export type ProvisionResult =
  | 'converged'
  | 'planned'
  | 'removed'
  | 'rolled-back'
  /** As it was but for what is listed, which another provision completes. */
  | 'rolled-back-in-part'
  | 'rollback-incomplete'
  | 'untouched'
  | 'unknown';

/** What a proof says, beside its beginning and its end. */
export type ProofEvent = Exclude<VerifyEvent, { type: 'started' | 'finished' }>;

/** What a provision run says while it runs; what is printed is a rendering of this stream. */
export type ProvisionEvent =
  | {
      readonly type: 'started';
      readonly schema: 'watertight/provision/1';
      readonly host: string;
      readonly tenants: readonly string[];
      readonly at: string;
      readonly version: string;
    }
  | { readonly type: 'plan'; readonly changes: readonly PlannedChange[] }
  | {
      readonly type: 'step';
      readonly id: string;
      readonly summary: string;
      readonly state: 'started' | 'done' | 'failed';
      readonly detail: string;
    }
  /** Asks the controller whether the operator still gets in; without a `commit` in time everything is taken back. */
  | { readonly type: 'confirm'; readonly withinMs: number }
  | { readonly type: 'rollback'; readonly reason: string }
  | ProofEvent
  | {
      readonly type: 'finished';
      readonly exit: ExitCode;
      readonly result: ProvisionResult;
      /** As many as the plan names; of a run that was cut off, what it made. */
      readonly changes: number;
      /** Where a run was taken back: how much of it, and what stays. */
      readonly takenBack?: TakenBack;
      readonly durationMs: number;
    };

export type Emit = (event: ProvisionEvent) => void;

export function planned({ id, kind, summary, diff }: Change): PlannedChange {
  return { id, kind, summary, diff };
}

/** The beginning of a run, as whoever carries it out says it. */
export function started(profile: HostProfile, at: Date): ProvisionEvent {
  const tenants = profile.tenants.map(({ name }) => name);
  const schema = 'watertight/provision/1';
  return { type: 'started', schema, host: profile.host, tenants, at: at.toISOString(), version };
}
