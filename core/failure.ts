import { EXIT, type ExitCode } from './outcome.js';

/** A mistake or a state that a person can mend: said in one sentence with its fix, never as a stack trace. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  constructor(
    message: string,
    readonly exit: ExitCode,
    /** The command or edit that mends it. */
    readonly fix: string | null = null,
  ) {
    super(message);
  }
}

/** Something the person who called asked for that cannot be: exit 64. `fix` says what could. */
export class UsageFailure extends Failure {
  override readonly name = 'UsageFailure';
  constructor(message: string, fix: string | null = null) {
    super(message, EXIT.usage, fix);
  }
}

/** One thing wrong in a configuration file, at its place. */
export interface ConfigurationProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** Path inside the document, for example /tenants/acme/allow/0; empty for all of it, and where the text is no YAML. */
  readonly path: string;
  /** The bad value, shortened and printable; empty where something is lacking. */
  readonly value: string;
  readonly expected: string;
}

/** A configuration file with everything that is wrong in it: exit 78. */
export class ConfigurationFailure extends Failure {
  override readonly name = 'ConfigurationFailure';
  constructor(readonly problems: readonly ConfigurationProblem[]) {
    super(problems.map(describeProblem).join('\n'), EXIT.configuration);
  }
}

function describeProblem({ file, line, column, path, value, expected }: ConfigurationProblem): string {
  const parts = [`${file}:${line}:${column}`, path, value, `expected ${expected}`];
  return parts.filter((part) => part !== '').join(': ');
}
