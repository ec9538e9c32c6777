import type { EventOf, VerifyEvent } from '../core/events.js';
import { parseEvent } from '../core/report/parse-event.js';
import { describeOutcome, fixOf } from '../core/target/describe.js';
import type { ExecResult, Target } from '../core/target/target.js';
import { PATHS } from '../profiles/names.js';

export interface RemoteRun {
  readonly target: Target;
  readonly tenant?: string;
  /** Milliseconds for the whole run. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** What the host said of itself beside its events. */
export interface HostAnswer {
  readonly exit: number | null;
  readonly profileDigest: string | null;
}

type Emit = (event: VerifyEvent) => void;

/** What came over the wire so far. */
interface Stream {
  finished: EventOf<'finished'> | null;
  /** SHA-256 of the profile that the host says it was made from; null where it did not say. */
  profileDigest: string | null;
  /** The first line that was no event of a run; null where there was none. */
  stray: string | null;
}

/** The program itself, not its front in PATH: it is the file whose digest was compared. */
function commandOf(tenant: string | undefined): [string, ...string[]] {
  const chosen = tenant === undefined ? [] : ['--tenant', tenant];
  return ['/usr/bin/node', PATHS.bundle, 'verify', '--local', '--format', 'ndjson', ...chosen];
}

function takeLine(stream: Stream, line: string, emit: Emit): void {
  const event = parseEvent(line);
  if (event === null || stream.finished !== null) {
    stream.stray ??= line.slice(0, 200);
    return;
  }
  // The controller says when it started and what the answers amount to.
  if (event.type === 'finished') stream.finished = event;
  else if (event.type === 'started') stream.profileDigest = event.profileDigest ?? null;
  else emit(event);
}

/** Why the stream is not the whole of a run; null where it is. */
function failureOf(result: ExecResult, stream: Stream): EventOf<'failure'> | null {
  const { outcome } = result;
  const failure = (kind: string, reason: string, fix: string | null = null) =>
    ({ type: 'failure', kind, reason, fix }) as const;
  if (outcome.kind !== 'exited')
    return failure(outcome.kind, `verify on the host: ${describeOutcome(outcome)}`, fixOf(outcome));
  if (stream.stray !== null) return failure('protocol', `the host said what is no event: ${stream.stray}`);
  if (stream.finished === null) {
    const [last = ''] = result.stderr.toString('utf8').trim().split('\n');
    const said = last === '' ? '' : `: ${last.slice(0, 200)}`;
    return failure('cut-off', `verify on the host ended with status ${outcome.status} before it finished${said}`);
  }
  if (stream.finished.exit !== outcome.status)
    return failure('protocol', `the host says exit ${stream.finished.exit} and ends with status ${outcome.status}`);
  return null;
}

/**
 * Runs verify on the host and passes its events on as they come. What is not a whole run ends with a failure event.
 * @returns what the host itself concluded, and which profile it was made from; null where it did not come to that
 */
export async function runOnHost({ target, tenant, deadlineMs, signal }: RemoteRun, emit: Emit): Promise<HostAnswer> {
  const stream: Stream = { finished: null, profileDigest: null, stray: null };
  const result = await target.exec({
    command: commandOf(tenant),
    deadlineMs,
    become: true,
    onLine: (line) => takeLine(stream, line, emit),
    ...(signal === undefined ? {} : { signal }),
  });
  const failure = failureOf(result, stream);
  if (failure !== null) emit(failure);
  return { exit: stream.finished?.exit ?? null, profileDigest: stream.profileDigest };
}
