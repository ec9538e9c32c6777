import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { UsageFailure } from '../core/failure.js';
import type { RunResult } from '../host/launcher/run.js';

/** `watertight run`: starts confined work on this host, and ends as it ends. */
export function runCommand(): Command {
  const command = launchingCommand('run')
    .description('on a contained host: run a command that reaches the egress proxy of its tenant and nothing else')
    .action(() => launch('run', { unproven: false }));
  return withExamples(command, [
    { type: 'sudo watertight run --tenant acme -- cat', does: 'copy stdin to stdout, confined' },
    { type: 'sudo watertight run --tenant acme -- npx @playwright/mcp', does: 'a browser MCP server on stdio' },
  ]);
}

/**
 * `watertight run-unproven`: the same without asking for a proof, by which the verifier comes to have a child to prove it
 * with. A command of its own, so that no pattern of sudoers for `run` can match it.
 */
export function runUnprovenCommand(): Command {
  const command = launchingCommand('run-unproven')
    .description('as run, without asking for a proof: for the verifier')
    .action(() => launch('run-unproven', { unproven: true }));
  return withExamples(command, [{ type: 'watertight run-unproven --tenant acme -- cat', does: 'as root alone' }]);
}

function launchingCommand(name: string): Command {
  return new Command(name)
    .usage('--tenant <name> -- <command...>')
    .option('--tenant <name>', 'whose allowlist applies; the first argument')
    .argument('[command...]', 'program and its arguments, after --')
    .passThroughOptions();
}

async function launch(name: string, options: { readonly unproven: boolean }): Promise<void> {
  const { readRunArguments } = await import('../host/launcher/run-arguments.js');
  // As typed, since commander takes the last of two options and drops the separator.
  const request = readRunArguments(process.argv.slice(3));
  if (process.argv[2] !== name || request === null) {
    throw new UsageFailure(
      `${name} takes a tenant, two hyphens and a command, in this order and nothing else`,
      `sudo watertight ${name} --tenant NAME -- COMMAND…`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new UsageFailure(
      `${name} needs root: it starts a unit in the tenant slice`,
      `sudo watertight ${name} --tenant ${request.tenant} -- …`,
    );
  }
  const { runConfined } = await import('../host/launcher/run.js');
  const { installedProfile } = await import('../host/installed-profile.js');
  endAs(await runConfined({ profile: await installedProfile(), ...request, ...options }));
}

function endAs(result: RunResult): void {
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
