import { Readable, type Writable } from 'node:stream';
import { Collector } from './collector.js';
import type { Cutoff } from './cutoff.js';
import { DEFAULT_MAX_BYTES } from './request.js';
import type { ExecOutcome, ExecRequest } from './target.js';

/** A program that runs, wherever it does. */
export interface Running {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended and its output is complete. Never rejects. */
  readonly ended: Promise<ExecOutcome>;
  /** Ends the program's process group. Resolves when it is gone, or when that cannot be told. Never rejects. */
  end(): Promise<void>;
  /** Lets go of the streams, whoever still holds their other ends. */
  abandon(): void;
}

/** What stands between a program's raw output and what the caller is to see of it. */
export interface Filters {
  stdout(chunk: Buffer): Buffer;
  stderr(chunk: Buffer): Buffer;
}

export interface Supervised {
  readonly outcome: ExecOutcome;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Sees a program through to its end, or to the cutoff: then its whole process group is ended. */
export async function supervise(
  running: Running,
  request: ExecRequest,
  cutoff: Cutoff,
  filters?: Filters,
): Promise<Supervised> {
  const limitBytes = request.maxBytes ?? DEFAULT_MAX_BYTES;
  const onOver = () => cutoff.reach({ kind: 'output-limit', limitBytes });
  const stdout = new Collector(limitBytes, onOver, request.onLine);
  const stderr = new Collector(limitBytes, onOver);
  running.stdout.on('data', (chunk: Buffer) => stdout.push(filters?.stdout(chunk) ?? chunk));
  running.stderr.on('data', (chunk: Buffer) => stderr.push(filters?.stderr(chunk) ?? chunk));
  const unfeed = feed(running.stdin, request.input, () => cutoff.reach({ kind: 'cancelled' }));
  // Where both are there, the cutoff came first: the byte too many, or the caller's change of mind.
  const { outcome, cut } = await Promise.race([
    cutoff.reached.then((reached) => ({ outcome: reached, cut: true })),
    running.ended.then((ended) => ({ outcome: ended, cut: false })),
  ]);
  if (cut) await running.end();
  unfeed();
  running.abandon();
  return { outcome, stdout: stdout.bytes(), stderr: stderr.bytes() };
}

/** Writes the input; a program that does not read it to the end is no error. Returns what stops the feeding. */
function feed(stdin: Writable, input: ExecRequest['input'], onBroken: () => void): () => void {
  // EPIPE where the program has closed its input.
  stdin.on('error', () => {});
  if (!(input instanceof Readable)) {
    stdin.end(input ?? '');
    return () => {};
  }
  // An input that breaks must not look like one that is complete.
  input.on('error', onBroken);
  input.pipe(stdin);
  return () => {
    input.unpipe(stdin);
    input.off('error', onBroken);
  };
}
