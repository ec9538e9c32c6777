import { Command, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';

/** `watertight provision --local`, on the host itself: the part of provision that the controller starts there. */
export function provisionLocalCommand(): Command {
  const command = new Command('provision')
    .description('make this host what the profile on standard input says (started by a controller)')
    .requiredOption('--local', 'this host')
    .addOption(new Option('--format <format>', 'how to print').choices(['ndjson']).default('ndjson'))
    .action(async () => {
      const { runOnHost } = await import('./provision/local-command.js');
      process.exitCode = await runOnHost();
    });
  return withExamples(command, [
    { type: 'watertight provision --local', does: 'read a profile, change this host, and wait for "commit"' },
  ]);
}
