import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { UsageFailure } from '../core/failure.js';

interface RunOptions {
  readonly tenant?: string;
  readonly unproven: boolean;
}

/** `watertight run`: starts confined work on this host, and ends as it ends. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('on a contained host: run a command that reaches the egress proxy of its tenant and nothing else')
    .option('--tenant <name>', 'whose allowlist applies (required)')
    .option('--unproven', 'launch without a proof: for the verifier, which makes the proof this way', false)
    .argument('<command...>', 'program and its arguments, after --')
    .passThroughOptions()
    .action(async (argv: string[], { tenant, unproven }: RunOptions) => {
      // Not a required option to commander, which would then say that it is missing where it was mistyped.
      if (tenant === undefined)
        throw new UsageFailure('run: which tenant? --tenant is missing', 'watertight run --help');
      if (process.getuid?.() !== 0) {
        throw new UsageFailure(
          'run needs root: it starts a unit in the tenant slice',
          `sudo watertight run --tenant ${tenant} -- …`,
        );
      }
      await runAndEnd(argv, tenant, unproven);
    });
  return withExamples(command, [
    { type: 'sudo watertight run --tenant acme -- cat', does: 'copy stdin to stdout, confined' },
    { type: 'sudo watertight run --tenant acme -- npx @playwright/mcp', does: 'a browser MCP server on stdio' },
  ]);
}

async function runAndEnd(argv: readonly string[], tenant: string, unproven: boolean): Promise<void> {
  const { runConfined } = await import('../host/launcher/run.js');
  const { installedProfile } = await import('../host/installed-profile.js');
  const profile = await installedProfile();
  const result = await runConfined({ profile, tenant, command: argv, unproven });
  if (result.kind === 'refused') {
    process.stderr.write(`watertight: refused: ${result.reason}\n${result.fix ? `fix: ${result.fix}\n` : ''}`);
    process.exitCode = result.exit;
    return;
  }
  if (result.note) process.stderr.write(`watertight: ${result.note}\n`);
  const { ending } = result;
  switch (ending.kind) {
    case 'exited':
      process.exitCode = ending.status;
      return;
    case 'signalled':
      // Whoever waits for us sees the signal that ended the work.
      process.kill(process.pid, ending.signal);
      return;
    case 'unknown':
      process.stderr.write(`watertight: could not tell how the command ended: ${ending.detail}\n`);
      process.exitCode = 125;
  }
}
