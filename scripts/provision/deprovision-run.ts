import { EXIT, type ExitCode } from '../../core/outcome.js';
import type { Target } from '../../core/target/target.js';
import { renderHost } from '../../profiles/host.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Change } from '../../profiles/resources/change.js';
import { deprovisionQuery, planDeprovision } from '../../profiles/resources/plan-deprovision.js';
import { type Emit, type ProvisionResult, planned, started } from './events.js';
import { gatherFacts } from './gather-facts.js';
import { perform } from './perform.js';
import { lockHost } from './remote-lock.js';

export interface DeprovisionRun {
  readonly profile: HostProfile;
  readonly connect: () => Target;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
  readonly keepPackages: boolean;
}

interface Ended {
  readonly exit: ExitCode;
  readonly result: ProvisionResult;
  readonly changes: number;
}

/**
 * Takes everything of ours from a host, from outside: the interpreter goes too. Cut off, it is simply run again. In the
 * end the host is read once more, and what is left is said.
 */
export async function deprovisionHost(run: DeprovisionRun): Promise<ExitCode> {
  const { profile, emit } = run;
  const at = new Date();
  emit(started(profile, at));
  const target = run.connect();
  try {
    const ended = run.dryRun ? await planOnly(run, target) : await underLock(run, target);
    emit({ type: 'finished', ...ended, durationMs: Date.now() - at.getTime() });
    return ended.exit;
  } finally {
    await target.close();
  }
}

async function planOnly(run: DeprovisionRun, target: Target): Promise<Ended> {
  const changes = await plan(run, target);
  if ('exit' in changes) return changes;
  run.emit({ type: 'plan', changes: changes.map(planned) });
  return { exit: EXIT.yes, result: 'planned', changes: changes.length };
}

async function underLock(run: DeprovisionRun, target: Target): Promise<Ended> {
  // Who may not even connect learns why from the question that everything rests on.
  const before = await plan(run, target);
  if ('exit' in before) return before;
  if (before.length === 0) {
    run.emit({ type: 'plan', changes: [] });
    return { exit: EXIT.yes, result: 'removed', changes: 0 };
  }
  const lock = await lockHost(target, 'deprovision');
  if (lock.kind === 'refused') return stopped(run, 'locked', lock.reason, null);
  try {
    return await remove(run, target);
  } finally {
    await lock.release();
  }
}

async function remove(run: DeprovisionRun, target: Target): Promise<Ended> {
  const changes = await plan(run, target);
  if ('exit' in changes) return changes;
  run.emit({ type: 'plan', changes: changes.map(planned) });
  for (const [done, change] of changes.entries()) {
    if (run.signal.aborted) return { ...stopped(run, 'cancelled', 'the run was ended', again(run)), changes: done };
    const failure = await make(run, target, change);
    if (failure === null) continue;
    run.emit({ type: 'failure', kind: 'deprovision', reason: `${change.summary}: ${failure}`, fix: again(run) });
    return { exit: EXIT.no, result: 'unknown', changes: done };
  }
  const left = await plan(run, target);
  if ('exit' in left) return left;
  if (left.length === 0) return { exit: EXIT.yes, result: 'removed', changes: changes.length };
  const reason = `still there: ${left.map(({ summary }) => summary).join('; ')}`;
  run.emit({ type: 'failure', kind: 'deprovision', reason, fix: again(run) });
  return { exit: EXIT.no, result: 'unknown', changes: changes.length };
}

async function make(run: DeprovisionRun, target: Target, { id, summary, operations }: Change): Promise<string | null> {
  run.emit({ type: 'step', id, summary, state: 'started', detail: '' });
  for (const operation of operations) {
    const failure = await perform(target, operation, (text) => run.emit({ type: 'progress', text }));
    if (failure === null) continue;
    run.emit({ type: 'step', id, summary, state: 'failed', detail: failure });
    return failure;
  }
  run.emit({ type: 'step', id, summary, state: 'done', detail: '' });
  return null;
}

async function plan(run: DeprovisionRun, target: Target): Promise<readonly Change[] | Ended> {
  const rendered = renderHost(run.profile);
  const gathered = await gatherFacts(target, deprovisionQuery(rendered));
  if (gathered.kind === 'error') return stopped(run, gathered.cause, gathered.reason, gathered.fix);
  return planDeprovision(rendered, gathered.facts, run);
}

function stopped(run: DeprovisionRun, kind: string, reason: string, fix: string | null): Ended {
  run.emit({ type: 'failure', kind, reason, fix });
  return { exit: EXIT.couldNotTell, result: 'unknown', changes: 0 };
}

function again(run: DeprovisionRun): string {
  return `watertight deprovision ${run.profile.host}`;
}
