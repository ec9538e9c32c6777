import { type Command, CommanderError } from 'commander';
import { ConfigurationFailure, Failure } from '../failure.js';
import { EXIT } from '../outcome.js';
import { printable, printableLines } from '../printable.js';
import { runCleanups } from './cleanup.js';
import { type Colours, coloursFor } from './colours.js';

/** 128 + SIGPIPE, as a C program ends whose reader went away: never the exit of a verdict. */
const BROKEN_PIPE = 141;

/** What a person reads of an error, with the exit code that goes with it. */
export function describeError(error: unknown, colours: Colours, debug: boolean): { text: string; exit: number } {
  if (error instanceof Failure) {
    const fix = error.fix === null ? '' : `\n${colours.bold('fix:')} ${printable(error.fix)}`;
    // Each mistake of a configuration is a line, and an error of its own.
    const errors = error instanceof ConfigurationFailure ? error.message.split('\n') : [error.message];
    const lines = errors.map((each) => `${colours.red('error:')} ${printableLines(each)}`);
    return { text: `${lines.join('\n')}${fix}`, exit: error.exit };
  }
  const detail = error instanceof Error ? error : new Error(String(error));
  const more = debug ? `\n${printableLines(detail.stack ?? '')}` : ' (set WATERTIGHT_DEBUG=1 to see where)';
  return { text: `${colours.red('internal error:')} ${printable(detail.message)}${more}`, exit: EXIT.internal };
}

function report(error: unknown): number {
  const debug = Boolean(process.env.WATERTIGHT_DEBUG);
  const { text, exit } = describeError(error, coloursFor(process.stderr, process.env), debug);
  process.stderr.write(`${text}\n`);
  return exit;
}

/** `watertight … | head` ends quietly, after its clean-ups. */
function endOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      void runCleanups().then(() => process.exit(BROKEN_PIPE));
    });
  }
}

/** Whatever nobody caught ends the program, said like everything else. */
function endOnUnexpected(): void {
  const end = (error: unknown): void => {
    const exit = report(error);
    void runCleanups().then(() => process.exit(exit));
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

/**
 * Runs a program to its end. A command's action sets `process.exitCode` (core/outcome.ts), or throws a Failure, which
 * is said on stderr in a sentence with its fix.
 * @param argv as in process.argv: the interpreter and the script first
 */
export async function runProgram(program: Command, argv: readonly string[] = process.argv): Promise<void> {
  endOnBrokenPipe();
  endOnUnexpected();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Help or the version was asked for, and printed.
    if (error instanceof CommanderError) return;
    process.exitCode = report(error);
    await runCleanups();
  }
}
