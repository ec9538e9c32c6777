import { Command, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { type ProvisionFlags, WHERE_IT_GOES } from './provision/flags.js';

/** `watertight provision`: makes hosts contained, and proves it. */
export function provisionCommand(): Command {
  const command = new Command('provision')
    .description('make a host contained: plan, change, prove, and take it back where the proof fails')
    .argument('[hosts...]', 'hosts of the configuration, one after the other')
    .option('--all', 'every host of the configuration')
    .option('--config <file>', 'the configuration to read')
    .option('--dry-run', 'print what would be done, and change nothing')
    .option('--diff', 'print what becomes of each file')
    .addOption(new Option('--format <format>', 'how to print').choices(['human', 'ndjson']).default('human'))
    .action(async (hosts: readonly string[], flags: ProvisionFlags) => {
      const { provisionHosts } = await import('./provision/hosts.js');
      process.exitCode = await provisionHosts(hosts, flags);
    });
  command.addHelpText('after', WHERE_IT_GOES);
  return withExamples(command, [
    { type: 'watertight provision browser-01', does: 'contain one host, and prove it' },
    {
      type: 'watertight provision browser-01 --dry-run --diff',
      does: 'show each file, package and unit that would change',
    },
    { type: 'watertight provision --all', does: 'every host, one after the other' },
  ]);
}
