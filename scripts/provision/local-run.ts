import { performance } from 'node:perf_hooks';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import type { Target } from '../../core/target/target.js';
import { renderHost } from '../../profiles/host.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Bundle } from '../../profiles/resources/bundle.js';
import type { Change } from '../../profiles/resources/change.js';
import { factsQuery } from '../../profiles/resources/gather.js';
import { planProvision } from '../../profiles/resources/plan.js';
import { applyChanges, rollBack } from './apply.js';
import { type Emit, type ProofEvent, type ProvisionResult, planned } from './events.js';
import { gatherFacts } from './gather-facts.js';
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
  /** Resolves true when the controller commits, false when it does not in time. */
  readonly confirmed: (withinMs: number) => Promise<boolean>;
}

interface Ended {
  readonly exit: ExitCode;
  readonly result: ProvisionResult;
  readonly changes: number;
}

/** Makes this host what its profile says, as one transaction: proven and confirmed, or taken back. */
export async function provisionHere(run: LocalRun): Promise<ExitCode> {
  const startedAt = performance.now();
  let ended: Ended;
  try {
    ended = await transaction(run);
  } catch (error) {
    // A full disk, say: whatever was begun is taken back.
    const reason = error instanceof Error ? error.message : String(error);
    ended = await takeBack(run, { exit: EXIT.couldNotTell, reason }, 0);
  }
  run.emit({ type: 'finished', ...ended, durationMs: Math.round(performance.now() - startedAt) });
  return ended.exit;
}

async function transaction(run: LocalRun): Promise<Ended> {
  const { emit, journal, profile } = run;
  const rendered = renderHost(profile);
  const gathered = await gatherFacts(run.target, factsQuery(rendered));
  if (gathered.kind === 'error') return untouched(run, EXIT.couldNotTell, 'facts', gathered.reason);
  const plan = planProvision(rendered, run.bundle, gathered.facts);
  if (plan.kind === 'conflict') return untouched(run, EXIT.no, 'conflict', plan.reasons.join('; '));
  const { changes } = plan;
  emit({ type: 'plan', changes: changes.map(planned) });
  const interrupted = journal.read().length > 0;
  if (interrupted) emit({ type: 'progress', text: 'an earlier run was cut off here: this one completes it' });

  const failure = await converge(run, changes, changes.length > 0 || interrupted);
  if (failure === null) {
    journal.clear();
    return { exit: EXIT.yes, result: 'converged', changes: changes.length };
  }
  return takeBack(run, failure, changes.length);
}

interface Failure {
  readonly exit: ExitCode;
  readonly reason: string;
}

/** Contain, prove, permit, confirm: in this order. Returns why the host must go back, or null. */
async function converge(run: LocalRun, changes: readonly Change[], confirm: boolean): Promise<Failure | null> {
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

async function takeBack(run: LocalRun, { exit, reason }: Failure, changes: number): Promise<Ended> {
  const { emit, journal, target } = run;
  if (journal.read().length === 0) {
    emit({ type: 'failure', kind: 'provision', reason, fix: null });
    return { exit, result: 'untouched', changes };
  }
  emit({ type: 'rollback', reason });
  const left = await rollBack(target, journal);
  if (left.length === 0) {
    emit({
      type: 'failure',
      kind: 'rolled-back',
      reason: `${reason}; the host is as it was, packages stay`,
      fix: null,
    });
    return { exit, result: 'rolled-back', changes };
  }
  const fix = `watertight provision ${run.profile.host}`;
  emit({ type: 'failure', kind: 'rollback-incomplete', reason: `${reason}; not taken back: ${left.join('; ')}`, fix });
  return { exit, result: 'rollback-incomplete', changes };
}

function untouched(run: LocalRun, exit: ExitCode, kind: string, reason: string): Ended {
  run.emit({ type: 'failure', kind, reason, fix: null });
  return { exit, result: 'untouched', changes: 0 };
}
