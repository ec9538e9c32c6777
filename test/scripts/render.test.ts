import { join } from 'node:path';
import t from 'tap';
import { createProgram } from '../../core/cli/program.js';
import { renderCommand } from '../../scripts/render.js';

const CONFIGURATION = `version: 1
hosts:
  one: { tenants: [acme] }
  two: { tenants: [beta, acme] }
tenants:
  acme: { allow: [example.com], runtimes: [opencode] }
  beta: { allow: [example.com] }
  idle: { allow: [example.com] }
`;

t.test('watertight render', async (t) => {
  const file = join(t.testdir({ 'watertight.yaml': CONFIGURATION }), 'watertight.yaml');
  const render = async (...words: string[]): Promise<string> => {
    const program = createProgram('test', [renderCommand()], [{ type: 'x', does: 'x' }]);
    const captured = t.capture(process.stdout, 'write', () => true);
    try {
      await program.parseAsync(['render', ...words, '--config', file], { from: 'user' });
    } finally {
      captured.restore(); // or the reporter's own lines would vanish with it
    }
    return captured
      .args()
      .map(([text]) => String(text))
      .join('');
  };
  let help = '';
  renderCommand()
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
    })
    .outputHelp();
  t.match(
    help,
    /--only nft .*on a provisioned host/,
    'nft finds the users and cgroups that the rules name there alone',
  );
  const whole = await render('acme');
  t.match(whole, /^# host {6}one\n# packages {2}nftables /, 'the first host that has the tenant');
  for (const path of [
    'watertight/watertight.nft',
    'watertight/tenants/acme/policy.json',
    'sudoers.d/watertight-acme',
  ]) {
    t.match(whole, new RegExp(`^# /etc/${path} {2}0\\d{3} root:`, 'm'), path);
  }
  const ruleset = await render('acme', '--host', 'two', '--only', 'nft');
  t.match(ruleset, /^# \/etc\/watertight\/watertight\.nft {2}0644 root:root\n#!\/usr\/sbin\/nft -f\n/, 'a pipe to nft');
  t.match(ruleset, /beta_output/, 'with every tenant of the host that was named');
  const mistakes: readonly (readonly [words: string[], message: RegExp, fix: RegExp])[] = [
    [['acm'], /has no tenant "acm"/, /did you mean acme\?/],
    [['acme', '--host', 'tow'], /has no host of that name: "tow"/, /did you mean two\?/],
    [['beta', '--host', 'one'], /host one has no tenant "beta"/, /one of: acme/],
    [['idle'], /no host in .* has the tenant idle/, /add idle to a host/],
    [['acme', '--only', 'nf'], /Allowed choices are nft, units/, /render --help/],
  ];
  for (const [words, message, fix] of mistakes) {
    await t.rejects(render(...words), { exit: 64, message, fix }, words.join(' '));
  }
});
