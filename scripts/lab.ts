import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { downCommand } from './lab/down.js';
import { execCommand } from './lab/exec.js';
import { listCommand } from './lab/list.js';
import { restartCommand } from './lab/restart.js';
import { sshCommand } from './lab/ssh.js';
import { upCommand } from './lab/up.js';

/** `watertight lab …`: disposable hosts to provision and verify. */
export function labCommand(): Command {
  const command = new Command('lab')
    .enablePositionalOptions()
    .description('disposable hosts: systemd, sshd and a network of their own (needs root)');
  for (const child of [upCommand(), listCommand(), execCommand(), sshCommand(), restartCommand(), downCommand()]) {
    command.addCommand(child);
  }
  return withExamples(command, [
    { type: 'watertight lab up --hosts 3', does: 'boot three hosts: lab-01, lab-02, lab-03' },
    { type: 'watertight lab exec lab-01 -- systemctl status', does: 'run a command on one, as root' },
    { type: 'watertight lab down', does: 'take them away' },
  ]);
}
