import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { coloursFor } from '../../../core/cli/colours.js';
import { describeError } from '../../../core/cli/run.js';
import { ConfigurationFailure, Failure } from '../../../core/failure.js';

const toy = join(t.testdir({}), 'toy.mjs');

t.before(async () => {
  await build({
    entryPoints: ['test/fixtures/cli/toy.ts'],
    outfile: toy,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);",
    },
    define: { WATERTIGHT_VERSION: '"9.8.7"' },
  });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  return spawn(process.execPath, [toy, ...args], { env: { ...inherited, ...environment } });
}

async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (data) => {
    stdout += data;
  });
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const cases: readonly {
  why: string;
  args: string[];
  exit: number;
  says: string | RegExp;
  stream?: 'stdout';
  environment?: NodeJS.ProcessEnv;
}[] = [
  { why: 'the version is the built one', args: ['--version'], exit: 0, says: /^9\.8\.7\n$/, stream: 'stdout' },
  { why: 'help is no error', args: ['--help'], exit: 0, says: /Examples:/, stream: 'stdout' },
  {
    why: 'help says what each command takes, a group of commands too',
    args: ['--help'],
    exit: 0,
    says: /^ {2}verify \[options\] <host>[\s\S]*^ {2}lab \[options\] \[command\]/m,
    stream: 'stdout',
  },
  { why: 'help of a command', args: ['verify', '--help'], exit: 0, says: /Examples:/, stream: 'stdout' },
  { why: 'help as a word', args: ['help', 'verify'], exit: 0, says: /Examples:/, stream: 'stdout' },
  { why: 'an action sets the exit code', args: ['verify', 'h'], exit: 1, says: /^$/ },
  {
    why: 'an unknown option, with the nearest',
    args: ['verify', '--formt'],
    exit: 64,
    says: "error: watertight verify: unknown option '--formt'\nfix: did you mean --format? (see watertight verify --help)\n",
  },
  { why: 'also below a command', args: ['lab', 'up', '--hots'], exit: 64, says: /watertight lab up: .*\n.*--hosts/ },
  { why: 'an unknown command, with the nearest', args: ['verfy'], exit: 64, says: /unknown command.*\n.*verify/ },
  { why: 'an unknown one like none', args: ['zzzzzzzz'], exit: 64, says: /fix: watertight --help/ },
  { why: 'a missing argument', args: ['verify'], exit: 64, says: /missing required argument 'host'/ },
  { why: 'one argument too many', args: ['verify', 'a', 'b'], exit: 64, says: /too many arguments/ },
  { why: 'an option without its value', args: ['verify', 'h', '--deadline'], exit: 64, says: /argument missing/ },
  { why: 'a value outside its choices', args: ['verify', 'h', '--format', 'x'], exit: 64, says: /human, tap/ },
  { why: 'a group without its command', args: ['lab'], exit: 64, says: /a command is missing/ },
  { why: 'no command at all', args: [], exit: 64, says: /a command is missing/ },
  {
    why: 'a failure in a sentence with its fix, harmless to the terminal',
    args: ['fail', 'failure'],
    exit: 2,
    says: 'error: the host is \\x1b[2Jdown\nfix: watertight lab up\n',
  },
  { why: 'a configuration error by place', args: ['fail', 'configuration'], exit: 78, says: /c\.yaml:3:7: \/hosts/ },
  {
    why: 'a fault of our own on one line',
    args: ['fail', 'bug'],
    exit: 70,
    says: /^internal error: a\\nbug \(set WATERTIGHT_DEBUG=1[^\n]*\n$/,
  },
  {
    why: 'the stack on request',
    args: ['fail', 'bug'],
    exit: 70,
    says: /^internal error: [\s\S]*\n {4}at /,
    environment: { WATERTIGHT_DEBUG: '1' },
  },
  { why: 'a rejection nobody awaits', args: ['fail', 'late'], exit: 70, says: /^internal error: late/ },
  {
    why: "what follows -- is the command's own",
    args: ['pass', '--', 'cat', '--help', '-x'],
    exit: 0,
    says: '["cat","--help","-x"]',
    stream: 'stdout',
  },
];

t.test('exit codes and messages', async (t) => {
  for (const { why, args, exit, says, stream, environment } of cases) {
    const result = await ended(start(args, environment));
    t.equal(result.code, exit, why);
    const text = result[stream ?? 'stderr'];
    if (typeof says === 'string') t.equal(text, says, why);
    else t.match(text, says, why);
    if (exit !== 70) t.notMatch(result.stderr, /\n\s+at /, `${why}: no stack`);
  }
});

t.test('signals and pipes', async (t) => {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const child = start(['wait']);
    child.stdout?.once('data', () => child.kill(signal));
    const { code, stdout } = await ended(child);
    t.equal(code, status, `${signal} ends with ${status}`);
    t.match(stdout, /cleaned/, 'after the clean-up');
  }
  const flood = start(['flood']);
  flood.stdout?.once('data', () => flood.stdout?.destroy());
  const { code, stderr } = await ended(flood);
  t.equal(code, 141, 'a reader that left is never exit 0');
  t.equal(stderr, '', 'and nothing is said about it');
});

t.test('every mistake of a configuration is an error', async (t) => {
  const problem = { file: 'c.yaml', line: 3, column: 7, path: '/hosts', value: '1', expected: 'a mapping' };
  const failure = new ConfigurationFailure([problem, { ...problem, line: 4, path: '', value: '' }]);
  const { text, exit } = describeError(failure, coloursFor({}, {}), false);
  t.equal(text, 'error: c.yaml:3:7: /hosts: 1: expected a mapping\nerror: c.yaml:4:7: expected a mapping');
  t.equal(exit, 78);
  const places = new Failure('looked in:\n  a\n  b', 78);
  t.equal(describeError(places, coloursFor({}, {}), false).text, 'error: looked in:\n  a\n  b', 'a list is one error');
});

t.test('colour', async (t) => {
  const failure = new Failure('x', 2, 'y');
  const terminal = { isTTY: true };
  t.match(describeError(failure, coloursFor(terminal, {}), false).text, '\u001b[31m', 'on a terminal');
  for (const [why, stream, environment] of [
    ['not into a pipe, CI or not', {}, { CI: '1' }],
    ['not with NO_COLOR', terminal, { NO_COLOR: '1' }],
    ['not on a dumb terminal', terminal, { TERM: 'dumb' }],
  ] as const)
    t.notMatch(describeError(failure, coloursFor(stream, environment), false).text, '\u001b', why);
});
