/** The three answers of a prerequisite: it is there, it is not there, or it could not be told. */
export type Presence = 'present' | 'absent' | 'error';

/** The three answers of a claim. Inconclusive is never a pass. */
export type Verdict = 'proven' | 'disproved' | 'inconclusive';

/** Exit codes of every command. 64, 70 and 78 follow sysexits.h (EX_USAGE, EX_SOFTWARE, EX_CONFIG). */
export const EXIT = {
  yes: 0,
  no: 1,
  couldNotTell: 2,
  usage: 64,
  /** A fault of this program itself. */
  internal: 70,
  configuration: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * Folds many answers into one exit code: a single no outweighs any could-not-tell, and a run without an answer is
 * "could not tell", never a pass.
 */
export function exitOf(answers: readonly (Presence | Verdict)[]): ExitCode {
  if (answers.some((answer) => answer === 'disproved' || answer === 'absent')) return EXIT.no;
  if (answers.length === 0) return EXIT.couldNotTell;
  if (answers.some((answer) => answer === 'inconclusive' || answer === 'error')) return EXIT.couldNotTell;
  return EXIT.yes;
}
