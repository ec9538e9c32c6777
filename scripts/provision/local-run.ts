import { performance } from 'node:perf_hooks';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { renderHost } from '../../profiles/host.js';
import { factsQuery } from '../../profiles/resources/gather.js';
import { planProvision } from '../../profiles/resources/plan.js';
import { rollBack } from './apply.js';
import { converge, type Failure, type LocalRun } from './converge.js';
import { type ProvisionResult, planned } from './events.js';
import { gatherFacts } from './gather-facts.js';

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
