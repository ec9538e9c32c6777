import { Command, InvalidArgumentError, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { FORMAT_NAMES } from '../core/report/format-names.js';
import type { VerifyFlags } from './verify/host.js';

/** The one `--format` of everything that verifies. */
export function formatOption(): Option {
  return new Option('--format <format>', 'how to print').choices(FORMAT_NAMES).default('human');
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 86_400)
    throw new InvalidArgumentError('expected seconds, more than 0 and at most 86400.');
  return seconds;
}

/** `watertight verify`: proves, from the controller, that a host is contained. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('prove by effect that a host is contained')
    .argument('<host>', 'a host of the configuration')
    .option('--tenant <name>', 'prove this tenant alone (default: each of the host)')
    .option('--config <file>', 'the configuration to read')
    .addOption(formatOption())
    .addOption(
      new Option('--deadline <seconds>', 'end the run on the host after so long').argParser(parseSeconds).default(120),
    )
    .action(async (host: string, flags: VerifyFlags) => {
      const { verifyHost } = await import('./verify/host.js');
      process.exitCode = await verifyHost(host, flags);
    });
  return withExamples(command, [
    { type: 'watertight verify browser-01', does: 'every claim, its ledger, and what to do about the rest' },
    { type: 'watertight verify browser-01 --tenant acme', does: 'one tenant alone' },
    { type: 'watertight verify browser-01 --format junit', does: 'for a build server' },
    { type: 'watertight verify browser-01 --format ndjson', does: 'each event as it comes' },
  ]);
}
