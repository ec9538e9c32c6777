import { printable } from '../../core/printable.js';
import { describeOutcome } from '../../core/target/describe.js';
import type { ExecResult } from '../../core/target/target.js';

/** Why a program did not succeed, with its last words, in one line. */
export function describeResult({ outcome, stdout, stderr }: ExecResult): string {
  const words = outcome.kind === 'exited' ? lastWords(stderr) || lastWords(stdout) : '';
  return words === '' ? describeOutcome(outcome) : `${describeOutcome(outcome)}: ${words}`;
}

/** The last lines that say something, on one line. */
export function lastWords(output: Buffer): string {
  const lines = output
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim());
  return printable(lines.filter(Boolean).slice(-3).join('; ').slice(-400));
}
