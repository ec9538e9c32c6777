import { Command, Help } from 'commander';
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

/** A command's line in the help above it. Commander's own says of a group of commands no more than its name. */
function subcommandTerm(command: Command): string {
  if (command.commands.length > 0) return `${command.name()} ${command.usage()}`;
  return Help.prototype.subcommandTerm(command);
}

/**
 * For a command and each one below it: wrong use throws a UsageFailure instead of writing and ending the process, and the
 * help says of a command what it takes.
 */
function configureTree(command: Command): void {
  command.configureOutput({ outputError: () => {} });
  command.configureHelp({ subcommandTerm });
  command.exitOverride((error) => {
    throw usageFailure(command, error) ?? error;
  });
  for (const child of command.commands) configureTree(child);
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
  configureTree(program);
  return program;
}
