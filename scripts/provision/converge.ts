import { EXIT, type ExitCode } from '../../core/outcome.js';
import type { Target } from '../../core/target/target.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Bundle } from '../../profiles/resources/bundle.js';
import type { Change } from '../../profiles/resources/change.js';
import { applyChanges } from './apply.js';
import type { Emit, ProofEvent } from './events.js';
import type { Journal } from './journal.js';

/** Milliseconds in which the controller has to show that the operator still gets in. */
export const CONFIRM_MS = 30_000;

/** What a run on the host itself works with; everything that reaches outside comes in here. */
export interface LocalRun {
  readonly profile: HostProfile;
  readonly bundle: Bundle;
  readonly target: Target;
  readonly journal: Journal;
  readonly emit: Emit;
  /** Aborted when the controller is gone, or when somebody asks this run to stop. */
  readonly signal: AbortSignal;
  /** Proves every claim of the profile on this host. */
  readonly prove: (profile: HostProfile, emit: (event: ProofEvent) => void, signal: AbortSignal) => Promise<ExitCode>;
  /** Puts the proof back that stood before this run: called when its changes were taken back. */
  readonly restoreProof: () => void;
  /** Resolves true when the controller commits, false when it does not in time. */
  readonly confirmed: (withinMs: number) => Promise<boolean>;
}

/** Why the host must go back. */
export interface Failure {
  readonly exit: ExitCode;
  readonly reason: string;
}

/** Contain, prove, permit, confirm: in this order. Returns why the host must go back, or null. */
export async function converge(run: LocalRun, changes: readonly Change[], confirm: boolean): Promise<Failure | null> {
  const isGrant = ({ stage }: Change) => stage === 'permission';
  const contained = await apply(
    run,
    changes.filter((change) => !isGrant(change)),
  );
  if (contained !== null) return contained;
  const proof = await prove(run);
  if (run.signal.aborted) return ABORTED;
  if (proof !== EXIT.yes) return { exit: proof, reason: 'containment was not proven' };
  const permitted = await apply(run, changes.filter(isGrant));
  if (permitted !== null || !confirm) return permitted;
  run.emit({ type: 'confirm', withinMs: CONFIRM_MS });
  if (await run.confirmed(CONFIRM_MS)) return null;
  return run.signal.aborted
    ? ABORTED
    : { exit: EXIT.couldNotTell, reason: 'nobody confirmed that the operator still gets in' };
}

/** A host that was too busy to tell is asked once more; a claim that is disproved is not. */
async function prove(run: LocalRun): Promise<ExitCode> {
  const first = await run.prove(run.profile, run.emit, run.signal);
  if (first !== EXIT.couldNotTell || run.signal.aborted) return first;
  run.emit({ type: 'progress', text: 'not every claim could be told: proving all of them once more' });
  return run.prove(run.profile, run.emit, run.signal);
}

const ABORTED: Failure = { exit: EXIT.couldNotTell, reason: 'the run was ended, or its controller is gone' };

async function apply(run: LocalRun, changes: readonly Change[]): Promise<Failure | null> {
  const applied = await applyChanges(changes, run);
  switch (applied.kind) {
    case 'done':
      return null;
    case 'aborted':
      return ABORTED;
    case 'failed':
      return { exit: EXIT.no, reason: applied.reason };
  }
}
