import { Command } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { type LabFlag, labFlag, say } from './flags.js';

interface RestartFlags extends LabFlag {
  readonly hard?: boolean;
}

/** `watertight lab restart`: a reboot of a host. */
export function restartCommand(): Command {
  const command = new Command('restart')
    .description('reboot a host; its files stay')
    .argument('<host>')
    .addOption(labFlag())
    .option('--hard', 'cut its power instead of asking its systemd')
    .action(async (host: string, flags: RestartFlags) => {
      const { labRestart } = await import('../../lab/restart.js');
      await labRestart({ lab: flags.lab, host, hard: flags.hard ?? false, onProgress: say });
    });
  return withExamples(command, [
    { type: 'watertight lab restart lab-01', does: 'as systemctl reboot there' },
    { type: 'watertight lab restart lab-01 --hard', does: 'as a power cut' },
  ]);
}
