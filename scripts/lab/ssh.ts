import { Command } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { type LabFlag, labFlag, withoutDashes } from './flags.js';

/** `watertight lab ssh`: a login to a host. */
export function sshCommand(): Command {
  const command = new Command('ssh')
    .description('log in to a host as ops, with the lab’s key')
    .argument('<host>')
    .argument('[command...]')
    .passThroughOptions()
    .addOption(labFlag())
    .action(async (host: string, words: readonly string[], flags: LabFlag) => {
      const { findLab } = await import('../../lab/list.js');
      const { sshToHost } = await import('../../lab/exec.js');
      const { lab } = await findLab(flags.lab);
      process.exitCode = await sshToHost(lab, host, withoutDashes(words));
    });
  return withExamples(command, [
    { type: 'watertight lab ssh lab-01', does: 'a shell' },
    { type: 'watertight lab ssh lab-01 -- uptime', does: 'one command' },
  ]);
}
