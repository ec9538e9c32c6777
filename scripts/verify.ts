import { Command, InvalidArgumentError, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { UsageFailure } from '../core/failure.js';
import { FORMAT_NAMES } from '../core/report/format-names.js';
import type { VerifyFlags } from './verify/host.js';

/** The one `--format` of everything that verifies. */
export function formatOption(): Option {
  return new Option('--format <format>', 'how to print').choices(FORMAT_NAMES).default('human');
}

/** What a person may ask to see besides the sentences; every other format holds it anyway. */
export function evidenceOption(): Option {
  return new Option('--evidence', 'human format: show the raw observations of what is not proven').default(false);
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
    .argument('[host]', 'a host of the configuration')
    .option('--local', 'this machine, where it is a contained host', false)
    .option('--tenant <name>', 'prove this tenant alone (default: each of the host)')
    .option('--config <file>', 'the configuration to read')
    .addOption(formatOption())
    .addOption(evidenceOption())
    .addOption(new Option('--deadline <seconds>', 'end the run after so long').argParser(parseSeconds).default(120))
    .action(async (host: string | undefined, flags: VerifyFlags & { readonly local: boolean }) => {
      if (flags.local === (host !== undefined)) {
        throw new UsageFailure('verify: name a host, or --local for this machine', 'watertight verify --help');
      }
      if (host === undefined) {
        const { verifyHere } = await import('./verify/here.js');
        process.exitCode = await verifyHere(flags);
        return;
      }
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
