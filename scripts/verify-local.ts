import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';
import type { Format } from '../core/report/format-names.js';
import { formatOption } from './verify.js';

interface VerifyLocalFlags {
  readonly tenant?: string;
  readonly format: Format;
}

async function verifyHere({ tenant, format }: VerifyLocalFlags): Promise<number> {
  const { installedProfile } = await import('../host/installed-profile.js');
  const { openReport } = await import('../core/report/session.js');
  const { verifyLocal } = await import('../checks/verify-local.js');
  const profile = await installedProfile();
  const report = openReport(format);
  await verifyLocal({ profile, ...(tenant === undefined ? {} : { tenant }) }, report.emit);
  return report.close();
}

/** `watertight verify --local`, on the host itself: what a controller's verify starts there, and an operator may too. */
export function verifyLocalCommand(): Command {
  const command = new Command('verify')
    .description('prove by effect that this host is contained')
    .requiredOption('--local', 'this host')
    .option('--tenant <name>', 'prove this tenant alone (default: each of the host)')
    .addOption(formatOption())
    .action(async (flags: VerifyLocalFlags) => {
      process.exitCode = await verifyHere(flags);
    });
  return withExamples(command, [
    { type: 'watertight verify --local', does: 'every claim about this host' },
    { type: 'watertight verify --local --tenant acme --format tap', does: 'one tenant, for a test harness' },
  ]);
}
