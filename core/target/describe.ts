import { printable } from '../printable.js';
import type { ExecOutcome } from './target.js';

/** One sentence for people: how a run on a target ended, or why it never began. Without the fix. */
export function describeOutcome(outcome: ExecOutcome): string {
  switch (outcome.kind) {
    case 'exited':
      return `it ended with status ${outcome.status}`;
    case 'signalled':
      return `it was killed by ${printable(outcome.signal)}`;
    case 'timed-out':
      return `it did not end within ${seconds(outcome.afterMs)}, and was ended`;
    case 'output-limit':
      return `it wrote more than ${outcome.limitBytes} bytes, and was ended`;
    case 'cancelled':
      return 'it was cancelled';
    case 'cannot-spawn':
      return `it could not be started: ${printable(outcome.detail)}`;
    case 'become-refused':
      return `root was refused: ${printable(outcome.detail)}`;
    case 'unreachable':
      return `the host cannot be reached: ${printable(outcome.detail)}`;
    case 'refused':
      return `the connection was refused: ${printable(outcome.detail)}`;
    case 'lost-connection':
      return `the connection was lost: ${printable(outcome.detail)}`;
    case 'authentication-failed':
      return `the host did not let us in: ${printable(outcome.detail)}`;
    case 'host-key-unknown':
      return `the host's key is unknown: it offers ${outcome.offered}`;
    case 'host-key-changed':
      return `the host's key has changed: it offers ${outcome.offered}, expected was ${outcome.expected.join(' or ')}`;
    case 'host-key-revoked':
      return `the host's key is revoked: it offers ${outcome.offered}`;
  }
}

/** The command or the setting that mends it; null where that depends on the program. */
export function fixOf(outcome: ExecOutcome): string | null {
  if ('fix' in outcome && outcome.fix !== undefined) return outcome.fix;
  if (outcome.kind === 'become-refused') return becomeFix(outcome.detail);
  if (outcome.kind === 'lost-connection') return 'see whether the host is still up and reached, then run this again';
  return null;
}

/** By what sudo, or the shell that looked for it, said. */
function becomeFix(detail: string): string {
  if (/sudo: (?:command )?not found/.test(detail)) return 'install sudo on the host, or log in as root (user: root)';
  return 'let the user run everything through sudo without a password (NOPASSWD)';
}

/**
 * True where the run says nothing about what was asked: the program did not run, or not to its end. An exit status,
 * whatever it is, is an answer.
 */
export function couldNotTell(outcome: ExecOutcome): boolean {
  return outcome.kind !== 'exited';
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
