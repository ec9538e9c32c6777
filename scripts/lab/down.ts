import { Command } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { type LabFlag, labFlag, say } from './flags.js';

interface DownFlags extends LabFlag {
  readonly images?: boolean;
}

/** `watertight lab down`: takes a lab away. */
export function downCommand(): Command {
  const command = new Command('down')
    .description('take a lab away and leave nothing of it; cached images stay')
    .addOption(labFlag())
    .option('--images', 'remove the cached images too, unless another lab uses them')
    .action(async (flags: DownFlags) => {
      const { labDown } = await import('../../lab/down.js');
      const wasThere = await labDown({ ...flags, onProgress: say });
      if (wasThere && !flags.images)
        say('the image stays cached for the next lab (remove it: watertight lab down --images)');
    });
  return withExamples(command, [
    { type: 'watertight lab down', does: 'the default lab' },
    { type: 'watertight lab down --lab next --images', does: 'another one, and the image cache' },
  ]);
}
