import { Command, Option } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { SUITES, type Suite } from '../../lab/names.js';
import { count, type LabFlag, labFlag, say } from './flags.js';

interface UpFlags extends LabFlag {
  readonly hosts?: number;
  readonly suite?: Suite;
}

/** `watertight lab up`: boots a lab, or completes one. */
export function upCommand(): Command {
  const command = new Command('up')
    .description('boot a lab, or complete one; writes its inventory, key and known_hosts')
    .addOption(labFlag())
    .addOption(new Option('--hosts <n>', 'how many hosts it shall have (default: 1)').argParser(count))
    .addOption(new Option('--suite <suite>', 'Debian release (default: bookworm)').choices(SUITES))
    .action(async (flags: UpFlags) => {
      const { labUp } = await import('../../lab/up.js');
      const lab = await labUp({ ...flags, onProgress: say });
      for (const host of lab.hosts) process.stdout.write(`${host.name} ${host.address} ${host.address6}\n`);
      say(`inventory: ${lab.inventory}`);
    });
  return withExamples(command, [
    { type: 'watertight lab up', does: 'one Debian 12 host' },
    { type: 'watertight lab up --hosts 10', does: 'ten; those that run already are left alone' },
    { type: 'watertight lab up --lab next --suite trixie', does: 'another lab beside it, with Debian 13' },
  ]);
}
