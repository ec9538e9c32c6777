import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';
import type { VerifyHereFlags } from './verify/here.js';
import { evidenceOption, formatOption } from './verify.js';

/** `watertight verify` on the host itself: what a controller's verify starts there, and an operator may too. */
export function verifyLocalCommand(): Command {
  const command = new Command('verify')
    .description('prove by effect that this host is contained')
    .option('--local', 'this host, which is the only one that it can be here')
    .option('--tenant <name>', 'prove this tenant alone (default: each of the host)')
    .addOption(formatOption())
    .addOption(evidenceOption())
    .action(async (flags: VerifyHereFlags) => {
      const { verifyHere } = await import('./verify/here.js');
      process.exitCode = await verifyHere(flags);
    });
  return withExamples(command, [
    { type: 'watertight verify', does: 'every claim about this host' },
    { type: 'watertight verify --tenant acme --format tap', does: 'one tenant, for a test harness' },
  ]);
}
