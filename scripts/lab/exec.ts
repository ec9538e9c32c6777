import { Command } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { type LabFlag, labFlag, withoutDashes } from './flags.js';

/** `watertight lab exec`: a command inside a host. */
export function execCommand(): Command {
  const command = new Command('exec')
    .description(
      'run a command as root inside a host, without SSH; ends with its status (128 + n where signal n ended it)',
    )
    .argument('<host>')
    .argument('<command...>')
    .passThroughOptions()
    .addOption(labFlag())
    .action(async (host: string, words: readonly string[], flags: LabFlag) => {
      const { findLab } = await import('../../lab/list.js');
      const { attachToHost } = await import('../../lab/exec.js');
      const { machine, lab } = await findLab(flags.lab);
      process.exitCode = await attachToHost(machine, lab, host, withoutDashes(words));
    });
  return withExamples(command, [
    { type: 'watertight lab exec lab-01 -- nft list ruleset', does: 'what the kernel holds there' },
    { type: 'watertight lab exec lab-01 bash', does: 'a root shell' },
  ]);
}
