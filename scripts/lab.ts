import { Command, InvalidArgumentError, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { DEFAULT_LAB, SUITES, type Suite } from '../lab/names.js';

interface LabFlag {
  readonly lab: string;
}

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

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

function labFlag(): Option {
  return new Option('--lab <name>', 'which lab').default(DEFAULT_LAB);
}

function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

/** Once options pass through, commander leaves the `--` before a command in its place. */
function withoutDashes(words: readonly string[]): readonly string[] {
  return words[0] === '--' ? words.slice(1) : words;
}

interface UpFlags extends LabFlag {
  readonly hosts?: number;
  readonly suite?: Suite;
}

function upCommand(): Command {
  const command = new Command('up')
    .description('boot a lab, or complete one; writes its inventory, key and known_hosts')
    .addOption(labFlag())
    .addOption(new Option('--hosts <n>', 'how many hosts it shall have (default: 1)').argParser(count))
    .addOption(new Option('--suite <suite>', 'Debian release (default: bookworm)').choices(SUITES))
    .action(async (flags: UpFlags) => {
      const { labUp } = await import('../lab/up.js');
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

function listCommand(): Command {
  const command = new Command('list').description('every lab of this machine').action(async () => {
    const { labList } = await import('../lab/list.js');
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

function execCommand(): Command {
  const command = new Command('exec')
    .description('run a command as root inside a host, without SSH; ends with its status')
    .argument('<host>')
    .argument('<command...>')
    .passThroughOptions()
    .addOption(labFlag())
    .action(async (host: string, words: readonly string[], flags: LabFlag) => {
      const { findLab } = await import('../lab/list.js');
      const { attachToHost } = await import('../lab/exec.js');
      const { machine, lab } = await findLab(flags.lab);
      process.exitCode = await attachToHost(machine, lab, host, withoutDashes(words));
    });
  return withExamples(command, [
    { type: 'watertight lab exec lab-01 -- nft list ruleset', does: 'what the kernel holds there' },
    { type: 'watertight lab exec lab-01 bash', does: 'a root shell' },
  ]);
}

function sshCommand(): Command {
  const command = new Command('ssh')
    .description('log in to a host as ops, with the lab’s key')
    .argument('<host>')
    .argument('[command...]')
    .passThroughOptions()
    .addOption(labFlag())
    .action(async (host: string, words: readonly string[], flags: LabFlag) => {
      const { findLab } = await import('../lab/list.js');
      const { sshToHost } = await import('../lab/exec.js');
      const { lab } = await findLab(flags.lab);
      process.exitCode = await sshToHost(lab, host, withoutDashes(words));
    });
  return withExamples(command, [
    { type: 'watertight lab ssh lab-01', does: 'a shell' },
    { type: 'watertight lab ssh lab-01 -- uptime', does: 'one command' },
  ]);
}

interface RestartFlags extends LabFlag {
  readonly hard?: boolean;
}

function restartCommand(): Command {
  const command = new Command('restart')
    .description('reboot a host; its files stay')
    .argument('<host>')
    .addOption(labFlag())
    .option('--hard', 'cut its power instead of asking its systemd')
    .action(async (host: string, flags: RestartFlags) => {
      const { labRestart } = await import('../lab/restart.js');
      await labRestart({ lab: flags.lab, host, hard: flags.hard ?? false, onProgress: say });
    });
  return withExamples(command, [
    { type: 'watertight lab restart lab-01', does: 'as systemctl reboot there' },
    { type: 'watertight lab restart lab-01 --hard', does: 'as a power cut' },
  ]);
}

interface DownFlags extends LabFlag {
  readonly images?: boolean;
}

function downCommand(): Command {
  const command = new Command('down')
    .description('take a lab away and leave nothing of it; cached images stay')
    .addOption(labFlag())
    .option('--images', 'remove the cached images too, unless another lab uses them')
    .action(async (flags: DownFlags) => {
      const { labDown } = await import('../lab/down.js');
      await labDown({ ...flags, onProgress: say });
      if (!flags.images) say('the image stays cached for the next lab (remove it: watertight lab down --images)');
    });
  return withExamples(command, [
    { type: 'watertight lab down', does: 'the default lab' },
    { type: 'watertight lab down --lab next --images', does: 'another one, and the image cache' },
  ]);
}
