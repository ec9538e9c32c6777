import { Command } from 'commander';
import { withExamples } from '../../core/cli/program.js';
import { say } from './flags.js';

/** `watertight lab list`: every lab of this machine. */
export function listCommand(): Command {
  const command = new Command('list').description('every lab of this machine').action(async () => {
    const { labList } = await import('../../lab/list.js');
    const labs = await labList();
    if (labs.length === 0) say('no lab is up');
    for (const lab of labs) {
      for (const { name, address, initPid } of lab.hosts) {
        const running = initPid === null ? 'down' : 'running';
        process.stdout.write(`${[lab.name, lab.suite, name, address, running].join('\t')}\n`);
      }
    }
  });
  return withExamples(command, [
    { type: 'watertight lab list', does: 'lab, suite, host, address, state; a line a host' },
  ]);
}
