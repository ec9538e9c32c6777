import type { Command } from 'commander';
import t from 'tap';
import { createProgram } from '../../core/cli/program.js';
import { denialsCommand } from '../../scripts/denials.js';
import { deprovisionCommand } from '../../scripts/deprovision.js';
import { egressProxyCommand } from '../../scripts/egress-proxy.js';
import { labCommand } from '../../scripts/lab.js';
import { provisionCommand } from '../../scripts/provision.js';
import { provisionLocalCommand } from '../../scripts/provision-local.js';
import { renderCommand } from '../../scripts/render.js';
import { runCommand } from '../../scripts/run.js';
import { verifyCommand } from '../../scripts/verify.js';
import { verifyLocalCommand } from '../../scripts/verify-local.js';

const programs = {
  controller: [provisionCommand(), verifyCommand(), deprovisionCommand(), renderCommand(), labCommand()],
  host: [runCommand(), verifyLocalCommand(), denialsCommand(), egressProxyCommand(), provisionLocalCommand()],
};

function helpOf(command: Command): string {
  let text = '';
  const writeOut = (more: string) => {
    text += more;
  };
  command.configureOutput({ writeOut, writeErr: writeOut });
  command.outputHelp();
  return text;
}

function withChildren(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

t.test('every command says what it does, with examples', async (t) => {
  for (const [program, commands] of Object.entries(programs)) {
    const all = withChildren(createProgram('A program.', commands, [{ type: 'watertight', does: 'does' }]));
    for (const command of all) {
      const help = helpOf(command);
      t.match(help, /\nExamples:\n {2}\S/, `${program}: ${command.name()} has examples`);
      t.match(command.description(), /^[a-zA-Z].{8,}/, `${program}: ${command.name()} has a description`);
      for (const option of command.options) t.match(option.description, /\w/, `${command.name()} ${option.flags}`);
    }
  }
});

t.test('verify', async (t) => {
  const refusals: readonly { why: string; args: string[]; says: RegExp }[] = [
    { why: 'a format that is none', args: ['--format', 'xml'], says: /human, tap, junit, json, ndjson/ },
    { why: 'a deadline that is no number', args: ['--deadline', 'soon'], says: /expected seconds/ },
    { why: 'a deadline of nothing', args: ['--deadline', '0'], says: /expected seconds/ },
    { why: 'a deadline in another notation', args: ['--deadline', '1e3'], says: /expected seconds/ },
  ];
  for (const { why, args, says } of refusals) {
    const program = createProgram('A program.', [verifyCommand()], [{ type: 'watertight', does: 'does' }]);
    const ran = program.parseAsync(['node', 'watertight', 'verify', 'lab-01', ...args]);
    await t.rejects(ran, { name: 'UsageFailure', exit: 64, message: says }, why);
  }
});
