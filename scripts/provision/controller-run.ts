import { EXIT, type ExitCode } from '../../core/outcome.js';
import type { Target } from '../../core/target/target.js';
import { renderHost } from '../../profiles/host.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Change } from '../../profiles/resources/change.js';
import type { HostFacts } from '../../profiles/resources/facts.js';
import { planProvision } from '../../profiles/resources/plan.js';
import { STAGED_BUNDLE } from '../../profiles/resources/state-paths.js';
import { bringBundle, bringInterpreter } from './bring.js';
import { type Brought, staying, withBrought } from './brought.js';
import { type Emit, planned, started } from './events.js';
import type { HostBundle } from './host-bundle.js';
import { readHost } from './read-host.js';
import { runRemotely } from './remote-run.js';
import { isStop, type Stop } from './stop.js';

export interface ControllerRun {
  readonly profile: HostProfile;
  readonly bundle: HostBundle;
  readonly connect: () => Target;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
}

/** Provisions one host, or plans to. Never throws for what a host does. */
export async function provisionHost(run: ControllerRun): Promise<ExitCode> {
  const { profile, emit } = run;
  const at = new Date();
  emit(started(profile, at));
  const target = run.connect();
  try {
    const brought: Brought[] = [];
    const answer = run.dryRun ? await planOnly(run, target, at.getTime()) : await converge(run, target, brought);
    if (!isStop(answer)) return answer;
    const { exit, kind, reason, fix } = answer;
    emit({ type: 'failure', kind, reason, fix });
    const finished = { type: 'finished', exit, ...UNTOUCHED, durationMs: Date.now() - at.getTime() } as const;
    emit(withBrought(finished, brought.map(staying)));
    return exit;
  } finally {
    await target.close();
  }
}

const UNTOUCHED = { result: 'untouched', changes: 0 } as const;

async function planOnly(run: ControllerRun, target: Target, startedAt: number): Promise<ExitCode | Stop> {
  const read = await plan(run, target);
  if (isStop(read)) return read;
  const changes = read.changes.map(planned);
  run.emit({ type: 'plan', changes });
  const durationMs = Date.now() - startedAt;
  run.emit({ type: 'finished', exit: EXIT.yes, result: 'planned', changes: changes.length, durationMs });
  return EXIT.yes;
}

async function converge(run: ControllerRun, target: Target, brought: Brought[]): Promise<ExitCode | Stop> {
  const read = await plan(run, target);
  if (isStop(read)) return read;
  run.emit({ type: 'plan', changes: read.changes.map(planned) });
  const bringing = { ...read, target, emit: run.emit, brought };
  const stopped = await bringInterpreter(bringing);
  if (stopped !== null) return stopped;
  const program = await bringBundle(bringing, run.bundle);
  if (isStop(program)) return program;
  if (run.signal.aborted) return { exit: EXIT.couldNotTell, kind: 'cancelled', reason: 'the run was ended', fix: null };
  return runRemotely({ ...run, target, connectAfresh: run.connect, program, announced: read.changes.length, brought });
}

/** A host with which something is wrong that a person must settle is not touched at all. */
async function plan(
  run: ControllerRun,
  target: Target,
): Promise<{ readonly facts: HostFacts; readonly changes: readonly Change[] } | Stop> {
  const facts = await readHost({ ...run, bundleDigest: run.bundle.sha256 }, target);
  if (isStop(facts)) return facts;
  const bundle = { sha256: run.bundle.sha256, staged: STAGED_BUNDLE };
  const answer = planProvision(renderHost(run.profile), bundle, facts);
  if (answer.kind === 'plan') return { facts, changes: answer.changes };
  return { exit: EXIT.no, kind: 'conflict', reason: answer.reasons.join('; '), fix: null };
}
