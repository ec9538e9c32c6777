import type { PrerequisiteResult } from '../core/events.js';
import { newNonce } from '../core/nonce.js';
import type { ExecOutcome, Target } from '../core/target/target.js';
import { judgeAnswer, questionsFor } from './prerequisites.js';
import script from './prerequisites.sh';
import type { Context, Phase } from './question.js';
import { readAnswers } from './read.js';

export interface ProbeOptions extends Pick<Context, 'bundleDigest' | 'version'> {
  readonly phase: Phase;
  /** Milliseconds for the whole probe. Default PROBE_DEADLINE_MS. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** Either every question has an answer of three, or the host was never asked. */
export type ProbeReport =
  | { readonly kind: 'asked'; readonly results: readonly PrerequisiteResult[] }
  | { readonly kind: 'not-asked'; readonly outcome: ExecOutcome };

/** Milliseconds for the whole probe: every question at its own limit, and the connection. */
export const PROBE_DEADLINE_MS = 25_000;
/** More than all questions may say together; what goes over is not an answer. */
const MAX_BYTES = 1024 * 1024;

/** Ends in which the script ran, so that what it printed is to be read, however little. */
function wasAsked(outcome: ExecOutcome): boolean {
  return ['exited', 'signalled', 'timed-out', 'output-limit'].includes(outcome.kind);
}

/**
 * Asks a host for its prerequisites: one run of a POSIX shell as root, on a host that may hold nothing of ours yet.
 * Never throws for what a host says or does not say.
 */
export async function probe(target: Target, options: ProbeOptions): Promise<ProbeReport> {
  const questions = questionsFor(options.phase);
  const ids = questions.map(({ id }) => id);
  const nonce = newNonce('n');
  const sentMs = Date.now();
  const { outcome, stdout } = await target.exec({
    command: ['/bin/sh', '-s', nonce, ...ids],
    input: script,
    deadlineMs: options.deadlineMs ?? PROBE_DEADLINE_MS,
    maxBytes: MAX_BYTES,
    become: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (!wasAsked(outcome)) return { kind: 'not-asked', outcome };
  const { bundleDigest, version } = options;
  const context: Context = { host: target.name, sentMs, backMs: Date.now(), bundleDigest, version };
  const answers = readAnswers(stdout, nonce, ids);
  return {
    kind: 'asked',
    results: questions.map((question) => judgeAnswer(question, answers.get(question.id), context)),
  };
}
