import { EXIT, type ExitCode } from '../../core/outcome.js';
import { describeOutcome, fixOf } from '../../core/target/describe.js';
import type { ExecOutcome } from '../../core/target/target.js';

/** Why a run ends before the host has begun its part: nothing of it was changed. */
export interface Stop {
  readonly exit: ExitCode;
  readonly kind: string;
  readonly reason: string;
  readonly fix: string | null;
}

/** A stop because the host could not be asked. */
export function notAsked(outcome: ExecOutcome): Stop {
  return { exit: EXIT.couldNotTell, kind: outcome.kind, reason: describeOutcome(outcome), fix: fixOf(outcome) };
}

export function isStop(value: unknown): value is Stop {
  return typeof value === 'object' && value !== null && 'exit' in value && 'reason' in value;
}
