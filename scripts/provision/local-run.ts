import { performance } from 'node:perf_hooks';
import { messageOf } from '../../core/message-of.js';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { renderHost } from '../../profiles/host.js';
import { factsQuery } from '../../profiles/resources/gather.js';
import { planProvision } from '../../profiles/resources/plan.js';
import type { TakenBack } from '../../profiles/resources/rollback.js';
import { rollBack } from './apply.js';
import { converge, type Failure, type LocalRun } from './converge.js';
import { type ProvisionResult, planned } from './events.js';
import { gatherFacts } from './gather-facts.js';

interface Ended {
  readonly exit: ExitCode;
  readonly result: ProvisionResult;
  readonly changes: number;
  readonly takenBack?: TakenBack;
}

/** Makes this host what its profile says, as one transaction: proven and confirmed, or taken back. */
export async function provisionHere(run: LocalRun): Promise<ExitCode> {
  const startedAt = performance.now();
  let ended: Ended;
  try {
    ended = await transaction(run);
  } catch (error) {
    // A full disk, say: whatever was begun is taken back.
    const reason = messageOf(error);
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
  if (journal.read().length === 0) return untouched(run, exit, 'provision', reason);
  emit({ type: 'rollback', reason });
  const { failures, whole, ...takenBack } = await rollBack(target, journal);
  // Where not everything was taken back the launcher is to look at what there is, and it will refuse.
  if (failures.length === 0) run.restoreProof();
  const fix = `watertight provision ${run.profile.host}`;
  if (failures.length > 0) {
    const left = `${reason}; not taken back: ${failures.join('; ')}`;
    emit({ type: 'failure', kind: 'rollback-incomplete', reason: left, fix });
    return { exit, result: 'rollback-incomplete', changes, takenBack };
  }
  const result = whole ? 'rolled-back' : 'rolled-back-in-part';
  emit({ type: 'failure', kind: result, reason, fix: whole ? null : fix });
  return { exit, result, changes, takenBack };
}

function untouched(run: LocalRun, exit: ExitCode, kind: string, reason: string): Ended {
  run.emit({ type: 'failure', kind, reason, fix: null });
  return { exit, result: 'untouched', changes: 0 };
}
