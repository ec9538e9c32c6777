import type { Command, CommanderError } from 'commander';
import { UsageFailure } from '../failure.js';

/** Commander ends this way where help or the version was asked for: nothing went wrong. */
const ANSWERED = new Set(['commander.helpDisplayed', 'commander.version']);

/** The command as typed, for example "watertight lab up". */
function pathOf(command: Command): string {
  const parent = command.parent;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

/** What commander objects to, as a failure of ours (exit 64); null where it only printed help or the version. */
export function usageFailure(command: Command, error: CommanderError): UsageFailure | null {
  if (ANSWERED.has(error.code)) return null;
  const path = pathOf(command);
  if (error.code === 'commander.help') {
    // `watertight help lab` asks for help and exits 0; `watertight lab` alone lacks its command.
    return error.exitCode === 0 ? null : new UsageFailure(`${path}: a command is missing`, `${path} --help`);
  }
  const [sentence = '', suggestion = ''] = error.message.replace(/^error: /, '').split('\n');
  const nearest = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(suggestion)?.[1];
  const help = `${path} --help`;
  return new UsageFailure(`${path}: ${sentence}`, nearest ? `did you mean ${nearest}? (see ${help})` : help);
}
