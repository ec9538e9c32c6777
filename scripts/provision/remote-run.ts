import { PassThrough } from 'node:stream';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { describeOutcome } from '../../core/target/describe.js';
import { succeeded, type Target } from '../../core/target/target.js';
import type { HostProfile } from '../../profiles/profile.js';
import { type Brought, withBrought } from './brought.js';
import { lastWords } from './describe-result.js';
import type { Emit, ProvisionEvent } from './events.js';
import { readEvent } from './read-event.js';

/** Installing packages may take long; a run that takes longer than this hangs. */
const RUN_MS = 30 * 60_000;
/** The confirmation has to arrive before the host gives up waiting (30 s). */
const CONFIRM_MS = 20_000;

/**
 * The run stands in a unit of its own: it is not part of the SSH session, so that whatever ends the session closes its
 * input and nothing more, and it can still take back what it began.
 */
const OWN_UNIT = ['systemd-run', '--pipe', '--wait', '--quiet', '--collect', '--service-type=exec', '--'] as const;

type Finished = Extract<ProvisionEvent, { type: 'finished' }>;

export interface RemoteRun {
  readonly target: Target;
  /** A connection that shares nothing with the target's. */
  readonly connectAfresh: () => Target;
  readonly profile: HostProfile;
  /** The bundle's path on the host. */
  readonly program: string;
  readonly emit: Emit;
  /** How many changes were announced. */
  readonly announced: number;
  /** Those of them that were made before the run on the host began. */
  readonly brought: readonly Brought[];
  /** Aborted: the host is told to take everything back. */
  readonly signal: AbortSignal;
}

/** Runs provision on the host, passes its events on, and commits once a second connection shows that one gets in. */
export async function runRemotely(run: RemoteRun): Promise<ExitCode> {
  const { target, profile, program, emit, signal } = run;
  const input = new PassThrough();
  const takeBack = () => input.end();
  if (signal.aborted) return EXIT.couldNotTell;
  signal.addEventListener('abort', takeBack, { once: true });
  input.write(`${JSON.stringify(profile)}\n`);
  let finished: Finished | null = null;
  const onEvent = (event: ProvisionEvent) => {
    if (event.type === 'confirm') void confirm(run, input);
    // The controller has begun and will end this run in its own words.
    if (event.type === 'finished') finished = withBrought(event, run.brought);
    else if (event.type === 'plan') announceAnew(run, event);
    else if (event.type !== 'started') emit(event);
  };
  const result = await target.exec({
    command: [...OWN_UNIT, '/usr/bin/node', program, 'provision', '--local', '--format', 'ndjson'],
    input,
    deadlineMs: RUN_MS,
    become: true,
    onLine: (line) => {
      const event = readEvent(line);
      if (event !== null) onEvent(event);
    },
  });
  signal.removeEventListener('abort', takeBack);
  input.end();
  return conclude(finished, result, emit);
}

/** The host plans from what it finds itself; what was announced already is not announced twice. */
function announceAnew({ announced, brought, emit }: RemoteRun, plan: Extract<ProvisionEvent, { type: 'plan' }>): void {
  if (plan.changes.length + brought.length === announced) return;
  emit({ type: 'progress', text: 'the host is not as it was when this was planned: planned anew' });
  emit(plan);
}

/** Shows that the operator still gets in and becomes root, by a connection made after everything was changed. */
async function confirm({ connectAfresh, emit, signal }: RemoteRun, input: PassThrough): Promise<void> {
  emit({ type: 'progress', text: 'connecting anew, to see that you still get in' });
  const second = connectAfresh();
  try {
    const result = await second.exec({ command: ['true'], become: true, deadlineMs: CONFIRM_MS });
    if (signal.aborted) return;
    if (succeeded(result)) {
      input.write('commit\n');
      return;
    }
    emit({ type: 'progress', text: `a new connection does not get in: ${describeOutcome(result.outcome)}` });
    input.end();
  } finally {
    await second.close();
  }
}

function conclude(finished: Finished | null, result: Awaited<ReturnType<Target['exec']>>, emit: Emit): ExitCode {
  if (finished !== null) {
    emit(finished);
    return finished.exit;
  }
  const words = lastWords(result.stderr);
  const reason = `the run on the host ended without a result: ${describeOutcome(result.outcome)}${words && `: ${words}`}`;
  emit({
    type: 'failure',
    kind: result.outcome.kind,
    reason,
    fix: 'run provision again: it completes or mends what was begun',
  });
  emit({
    type: 'finished',
    exit: EXIT.couldNotTell,
    result: 'unknown',
    changes: 0,
    durationMs: Math.round(result.durationMs),
  });
  return EXIT.couldNotTell;
}
