import { Command } from 'commander';
import { version } from '../version.js';
import { usageFailure } from './usage.js';

/** One example of a command's help: what to type, and what it does. */
export interface Example {
  readonly type: string;
  readonly does: string;
}

/** Adds examples below a command's help. Every command has some. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(({ type }) => type.length));
  const lines = examples.map(({ type, does }) => `  ${type.padEnd(width)}  ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Makes every wrong use throw a UsageFailure instead of writing and ending the process, in each command below too. */
function holdToOurErrors(command: Command): void {
  command.configureOutput({ outputError: () => {} });
  command.exitOverride((error) => {
    throw usageFailure(command, error) ?? error;
  });
  for (const child of command.commands) holdToOurErrors(child);
}

/**
 * The program `watertight` with its commands. Options of the program itself stand before the command, so that a command
 * may pass its own arguments through (`run --tenant acme -- cat --help`).
 */
export function createProgram(
  description: string,
  commands: readonly Command[],
  examples: readonly Example[],
): Command {
  const program = new Command('watertight')
    .description(description)
    .version(version, '-V, --version', 'print the version')
    .enablePositionalOptions();
  for (const command of commands) program.addCommand(command);
  withExamples(program, examples);
  holdToOurErrors(program);
  return program;
}
