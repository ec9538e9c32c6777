import { Command, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { type DeprovisionFlags, WHERE_IT_GOES } from './provision/flags.js';

/** `watertight deprovision`: takes everything away again. */
export function deprovisionCommand(): Command {
  const command = new Command('deprovision')
    .description('take everything of ours from a host: permission first, packages last')
    .argument('[hosts...]', 'hosts of the configuration, one after the other')
    .option('--all', 'every host of the configuration')
    .option('--config <file>', 'the configuration to read')
    .option('--dry-run', 'print what would be done, and change nothing')
    .option('--diff', 'print what becomes of each file')
    .option('--keep-packages', 'leave the packages that provision installed')
    .addOption(new Option('--format <format>', 'how to print').choices(['human', 'ndjson']).default('human'))
    .action(async (hosts: readonly string[], flags: DeprovisionFlags) => {
      const { deprovisionHosts } = await import('./provision/hosts.js');
      process.exitCode = await deprovisionHosts(hosts, flags);
    });
  command.addHelpText('after', WHERE_IT_GOES);
  return withExamples(command, [
    { type: 'watertight deprovision browser-01', does: 'the host is as it was before the first provision' },
    { type: 'watertight deprovision browser-01 --dry-run', does: 'print what would go' },
    { type: 'watertight deprovision --all', does: 'every host, one after the other' },
  ]);
}
