import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { PrerequisiteResult } from '../../core/events.js';
import type { Presence } from '../../core/outcome.js';
import type { ExecOutcome, Target } from '../../core/target/target.js';
import { judgeAnswer, PREREQUISITES, questionsFor } from '../../probes/prerequisites.js';
import script from '../../probes/prerequisites.sh';
import { probe } from '../../probes/probe.js';
import { atLeast, type Context } from '../../probes/question.js';
import { ANSWER_BYTES, readAnswers } from '../../probes/read.js';
import { PARENT_SLICE, PATHS, RULESET_UNIT } from '../../profiles/names.js';

const NONCE = 'feedbeef';
const IDS = PREREQUISITES.map(({ id }) => id);
const DIGEST = 'a'.repeat(64);
const context: Context = { host: 'lab-01', sentMs: 0, backMs: 0, bundleDigest: DIGEST, version: '1.2.3' };

function judgeAll(stdout: Buffer, over: Partial<Context> = {}): Map<string, PrerequisiteResult> {
  const answers = readAnswers(stdout, NONCE, IDS);
  const whole = { ...context, ...over };
  return new Map(
    PREREQUISITES.map((question) => [question.id, judgeAnswer(question, answers.get(question.id), whole)]),
  );
}

/** Tools that the script itself lives on; the rest of a fake host are fakes. */
const ESSENTIAL = ['base64', 'timeout', 'head', 'cat', 'stat', 'sha256sum', 'sleep', 'setsid', 'sh'];
const FAKES: Readonly<Record<string, string>> = {
  cat: "printf 'ID=debian\\nVERSION_CODENAME=bookworm\\n'",
  uname: 'echo 6.1.0-37-amd64',
  stat: 'case $* in *-f*) echo cgroup2fs ;; *booted*|*system*) echo directory ;; *) echo 7 ;; esac',
  systemctl:
    'case $1 in --version) echo "systemd 252 (252.1)" ;; show) echo LoadState=loaded ;; *) echo running ;; esac',
  id: 'echo 0',
  date: 'echo 1000000000',
  df: "printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\\no 9 1 900000 1%% /\\no 9 1 800000 1%% /\\n'",
  nft: 'case $* in --version) echo "nftables v1.0.6 (x)" ;; list*) echo "table inet watertight" ;; esac',
  node: 'echo v18.20.4',
  python3: 'echo Python 3.11.2',
  ip: 'echo ip utility, iproute2-6.1.0, libbpf 1.1.2',
  sha256sum: `echo "${DIGEST}  $1"`,
};
/** Which questions each tool decides. */
const DECIDES: Readonly<Record<string, readonly string[]>> = {
  cat: ['os'],
  uname: ['kernel'],
  stat: ['cgroup2', 'systemd', 'apt-lock'],
  systemctl: ['systemd', 'units'],
  id: ['sudo'],
  date: ['clock'],
  df: ['disk'],
  nft: ['nftables', 'nft-cgroup', 'ruleset'],
  node: ['node'],
  python3: ['python3'],
  ip: ['iproute2'],
  sha256sum: ['bundle', 'profile'],
};
/** Where a missing tool is an answer of its own: it is what was asked for. */
const ABSENT_WITHOUT: readonly string[] = ['systemd', 'nftables', 'node', 'python3', 'iproute2'];

const root = t.testdir({ hanging: '', booted: {}, 'watertight.mjs': '', 'profile.json': '', lock: '', release: '' });
/** Stays until the test is over: nothing but a limit ends a wait for it. */
const HANG = `while [ -e ${join(root, 'hanging')} ]; do sleep 0.5; done`;
t.teardown(() => rmSync(join(root, 'hanging'), { force: true }));

let hosts = 0;

/** A fake host: a folder that is the whole PATH. A body of null: the tool is missing. */
function fakeHost(over: Readonly<Record<string, string | null>> = {}): string {
  hosts += 1;
  const folder = join(root, `host-${hosts}`);
  mkdirSync(folder);
  for (const name of ESSENTIAL)
    if (!(name in FAKES))
      symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(folder, name));
  for (const [name, body] of Object.entries({ ...FAKES, ...over })) {
    if (body === null) continue;
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** The script as it would run on that host, with its paths there; where something is going to hang, with less patience. */
function scriptFor(folder: string, hurried: boolean): string {
  const edits: readonly (readonly [string, string])[] = [
    ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', `PATH=${folder}`],
    ['/usr/bin/node', `${folder}/node`],
    [PATHS.bundle, join(root, 'watertight.mjs')],
    [PATHS.profile, join(root, 'profile.json')],
    ['/run/systemd/system', join(root, 'booted')],
    ['/var/lib/dpkg/lock-frontend', join(root, 'lock')],
    ['/etc/os-release', join(root, 'release')],
    ['tool_limit=3', hurried ? 'tool_limit=2' : 'tool_limit=9'],
    ['question_limit=12', hurried ? 'question_limit=9' : 'question_limit=60'],
  ];
  let text = script;
  for (const [from, to] of edits) {
    if (!text.includes(from)) throw new Error(`the script holds no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

async function collect(child: ChildProcess): Promise<Buffer> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return Buffer.concat(chunks);
}

interface Asking {
  readonly shell?: readonly [string, ...string[]];
  readonly hurried?: boolean;
}

async function ask(folder: string, { shell = ['dash'], hurried = false }: Asking = {}): Promise<Buffer> {
  const [program, ...first] = shell;
  const child = spawn(program, [...first, '-s', NONCE, ...IDS], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin?.end(scriptFor(folder, hurried));
  return collect(child);
}

const fakeClock = { sentMs: 1_000_000_000_000, backMs: 1_000_000_001_000 };

t.test('the script names what the profile names', async (t) => {
  for (const name of [PATHS.bundle, PATHS.profile, PARENT_SLICE, RULESET_UNIT]) t.ok(script.includes(name), name);
  t.ok(script.includes(`\nanswer_bytes=${ANSWER_BYTES}\n`), 'and keeps as many bytes as the reader thinks');
  for (const { id, look } of PREREQUISITES) t.ok(script.includes(look.split(' ')[0] ?? ''), `${id} can be looked at`);
  const asked = new Set([...script.matchAll(/^ask_([a-z0-9_]+)\(\)/gm)].map(([, name]) => name?.replace('_', '-')));
  t.same(asked, new Set(IDS), 'every question is asked, and none besides');
});

t.test('a host that holds everything', async (t) => {
  for (const shell of [['dash'], ['bash', '--posix']] as const) {
    const results = judgeAll(await ask(fakeHost(), { shell }), fakeClock);
    for (const { id, presence, reason, fix } of results.values()) {
      t.equal(presence, 'present', `${shell[0]}: ${id}`, { reason });
      t.equal(fix, null, `${shell[0]}: ${id} needs no fix`);
    }
  }
});

t.test('a missing tool is never a guess', async (t) => {
  for (const [tool, decided] of Object.entries(DECIDES)) {
    const results = judgeAll(await ask(fakeHost({ [tool]: null })), fakeClock);
    for (const { id, presence, reason, fix } of results.values()) {
      const expected: Presence = !decided.includes(id)
        ? 'present'
        : ABSENT_WITHOUT.includes(id) && tool !== 'stat'
          ? 'absent'
          : 'error';
      t.equal(presence, expected, `without ${tool}: ${id}`, { reason });
      if (tool === 'nft' && decided.includes(id))
        t.equal(fix, 'watertight provision lab-01', `${id}: which brings nft`);
    }
  }
});

t.test('a hang costs only the questions that it decides', async (t) => {
  const hang = async (tool: string, decided: readonly string[]) => {
    const results = judgeAll(await ask(fakeHost({ [tool]: `(${HANG}) & wait` }), { hurried: true }), fakeClock);
    for (const { id, presence, reason, fix } of results.values()) {
      t.equal(presence, decided.includes(id) ? 'error' : 'present', `${tool} hangs: ${id}`, { reason });
      if (!decided.includes(id)) continue;
      t.match(reason, /in time|too long/, `${id}: says that it hangs`);
      t.match(fix, /as root on lab-01: command -v [a-z]+; timeout 5 [a-z]+ /, `${id}: says how to look`);
      if (tool === 'nft') t.match(fix, 'command -v nft; timeout 5 nft ', `${id}: names the one that hangs`);
    }
  };
  const tools = Object.entries(DECIDES).filter(([tool]) => ['systemctl', 'nft', 'id', 'stat'].includes(tool));
  await Promise.all(tools.map(([tool, decided]) => hang(tool, decided)));
});

t.test('one retry', async (t) => {
  const once = 'if [ -e "$0.tried" ]; then echo 6.1.0; else : > "$0.tried"; exit 1; fi';
  const twice = 'echo 6.1.0; exit 1';
  t.equal(
    judgeAll(await ask(fakeHost({ uname: once }))).get('kernel')?.presence,
    'present',
    'what fails once is asked again',
  );
  t.equal(
    judgeAll(await ask(fakeHost({ uname: twice }))).get('kernel')?.presence,
    'error',
    'what fails twice is an error',
  );
});

t.test('whatever every tool says, nothing is made of nonsense', async (t) => {
  const faults: Readonly<Record<string, string>> = {
    'status 1 and silence': 'exit 1',
    'status 0 and silence': 'exit 0',
    'bytes that are no text': "printf '\\377\\376\\001yes\\n'",
    '4 MB': 'i=0; while [ $i -lt 64 ]; do head -c 65536 /dev/zero; i=$((i + 1)); done',
    'a marker of an earlier run': "printf '\\n@abad1dea@ status version 0\\n@abad1dea@ done 99\\n'",
    'a sudo that objects': 'echo "sudo: a password is required"; exit 1',
    'a tool that outlives its timeout elsewhere and keeps the pipe': `setsid sh -c '${HANG}' & exit 0`,
  };
  const entries = await Promise.all(
    Object.entries(faults).map(async ([why, body]) => {
      const all = Object.fromEntries(Object.keys(FAKES).map((tool) => [tool, body]));
      return [why, judgeAll(await ask(fakeHost(all), { hurried: true }), fakeClock)] as const;
    }),
  );
  for (const [why, results] of entries)
    for (const { id, presence, reason, found } of results.values()) {
      t.equal(presence, 'error', `${why}: ${id}`, { reason, found });
      if (why === '4 MB' && id === 'kernel') t.match(reason, 'said too much');
      t.notMatch(reason, why === '4 MB' ? 'too long' : 'too much', `${why}: ${id}: too much is not too long`);
    }
});

t.test("apt's lock is held by somebody with a name", async (t) => {
  const lock = join(root, 'lock');
  const hold = `import fcntl,sys; f=open(${JSON.stringify(lock)},"w"); fcntl.lockf(f,fcntl.LOCK_EX); print("held",flush=True); sys.stdin.read()`;
  const holder = spawn('python3', ['-c', hold]);
  await once(holder.stdout, 'data');
  const real = spawnSync('which', ['stat'], { encoding: 'utf8' }).stdout.trim();
  const folder = fakeHost({ stat: `exec ${real} "$@"` });
  const result = judgeAll(await ask(folder)).get('apt-lock');
  holder.stdin.end();
  await once(holder, 'close');
  t.equal(result?.presence, 'absent');
  t.match(result?.found, new RegExp(`python3 \\(process ${holder.pid}\\)`));
  t.equal(judgeAll(await ask(folder)).get('apt-lock')?.presence, 'present', 'and free afterwards');
});

const marked = (text: string) => `\n@${NONCE}@ ${text}\n`;

/** A whole transcript that holds this answer to one question. */
function encoded(id: string, answer: string): Buffer {
  const line = marked(`answer ${id} ${Buffer.from(answer).toString('base64')}`);
  return Buffer.from(`${line}${marked(`done ${IDS.length}`)}`);
}

/** A transcript in which one question was answered so; or what was missing. */
function transcript(
  id: string,
  outputs: Readonly<Record<string, readonly [number, string] | 'no-tool' | 'no-file'>>,
): Buffer {
  const said = Object.entries(outputs).map(([key, output]) =>
    typeof output === 'string'
      ? marked(`${output} ${key}`)
      : `${marked(`output ${key}`)}${output[1]}${marked(`status ${key} ${output[0]}`)}`,
  );
  return encoded(id, `${said.join('')}${marked(`answered ${id}`)}`);
}

const systemd = (state: string) =>
  ({ version: [0, 'systemd 257 (x)'], booted: [0, 'directory'], state: [1, state] }) as const;
const space = (usr: number, at: number) =>
  [
    0,
    `Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a b 9 1 ${usr} 5% /usr\no 9 1 ${at} - /var`,
  ] as const;
const bundleHead = (version: string) => [0, `#!/usr/bin/env node\n// watertight ${version}`] as const;
const plain = [0, ''] as const;
const nft = [0, 'nftables v1.0.6 (x)'] as const;

const judgements: readonly {
  why: string;
  id: string;
  outputs: Readonly<Record<string, readonly [number, string] | 'no-tool' | 'no-file'>>;
  presence: Presence;
  says?: RegExp;
  fix?: RegExp;
  over?: Partial<Context>;
}[] = [
  {
    why: 'trixie',
    id: 'os',
    outputs: { release: [0, 'VERSION_CODENAME=trixie\nID="debian"'] },
    presence: 'present',
    says: /Debian 13/,
  },
  {
    why: 'another system',
    id: 'os',
    outputs: { release: [0, 'ID=ubuntu\nVERSION_CODENAME=noble'] },
    presence: 'absent',
    says: /ubuntu noble/,
  },
  {
    why: 'a Debian not tried',
    id: 'os',
    outputs: { release: [0, 'ID=debian\nVERSION_CODENAME=buster'] },
    presence: 'absent',
  },
  {
    why: 'a release file that cannot be read',
    id: 'os',
    outputs: { release: [1, 'ID=debian\nVERSION_CODENAME=trixie'] },
    presence: 'error',
  },
  { why: 'the oldest kernel', id: 'kernel', outputs: { release: [0, '5.13.0'] }, presence: 'present' },
  { why: 'too old a kernel', id: 'kernel', outputs: { release: [0, '5.9.99-x'] }, presence: 'absent', says: /5\.13/ },
  {
    why: 'a hybrid host',
    id: 'cgroup2',
    outputs: { type: [0, 'tmpfs'] },
    presence: 'absent',
    says: /would match nothing/,
  },
  { why: 'not root', id: 'sudo', outputs: { uid: [0, '1000'] }, presence: 'absent' },
  { why: 'a failed unit', id: 'systemd', outputs: systemd('degraded'), presence: 'present', says: /degraded/ },
  {
    why: 'still booting',
    id: 'systemd',
    outputs: systemd('starting'),
    presence: 'error',
    says: /still booting/,
    fix: /^wait until lab-01/,
  },
  { why: 'going down', id: 'systemd', outputs: systemd('stopping'), presence: 'absent' },
  { why: 'no bus', id: 'systemd', outputs: systemd('Failed to connect to bus: Host is down'), presence: 'error' },
  {
    why: 'another init',
    id: 'systemd',
    outputs: { version: [0, 'systemd 252 (x)'], booted: 'no-file', state: [1, 'offline'] },
    presence: 'absent',
    says: /another init/,
  },
  {
    why: 'too old a systemd',
    id: 'systemd',
    outputs: { ...systemd('running'), version: [0, 'systemd 247 (x)'] },
    presence: 'absent',
  },
  {
    why: 'a clock in step',
    id: 'clock',
    outputs: { epoch: [0, '1000'] },
    presence: 'present',
    says: /in step/,
    over: { sentMs: 1_000_400, backMs: 1_000_900 },
  },
  {
    why: 'a clock just within',
    id: 'clock',
    outputs: { epoch: [0, '1060'] },
    presence: 'present',
    over: { sentMs: 999_000, backMs: 1_000_000 },
  },
  {
    why: 'a clock ahead',
    id: 'clock',
    outputs: { epoch: [0, '1062'] },
    presence: 'absent',
    says: /62 s ahead/,
    over: { sentMs: 999_000, backMs: 1_000_000 },
  },
  {
    why: 'a clock behind',
    id: 'clock',
    outputs: { epoch: [0, '1000'] },
    presence: 'absent',
    says: /99 s behind/,
    over: { sentMs: 1_100_000, backMs: 1_101_000 },
  },
  {
    why: 'a slow answer is no clock that is off',
    id: 'clock',
    outputs: { epoch: [0, '1000'] },
    presence: 'present',
    over: { sentMs: 900_000, backMs: 1_100_000 },
  },
  { why: 'a full disk', id: 'disk', outputs: { space: space(900_000, 204_799) }, presence: 'absent', says: /199 MiB/ },
  { why: 'enough room', id: 'disk', outputs: { space: space(204_800, 204_800) }, presence: 'present' },
  {
    why: 'one disk not told',
    id: 'disk',
    outputs: { space: [0, 'Filesystem x\n/dev/a 9 1 900000 5% /usr'] },
    presence: 'error',
  },
  {
    why: 'too old an nft',
    id: 'nftables',
    outputs: { version: [0, 'nftables v0.9.8 (x)'] },
    presence: 'absent',
    says: /older/,
  },
  { why: 'too old a Node', id: 'node', outputs: { version: [0, 'v18.13.0'] }, presence: 'absent' },
  { why: 'a newer Node', id: 'node', outputs: { version: [0, 'v22.1.0'] }, presence: 'present' },
  {
    why: 'no nft to ask the kernel with',
    id: 'nft-cgroup',
    outputs: { version: 'no-tool', control: 'no-tool', rule: 'no-tool' },
    presence: 'error',
    says: /not there to be asked/,
    fix: /^watertight provision lab-01$/,
  },
  {
    why: 'the kernel refuses',
    id: 'nft-cgroup',
    outputs: {
      version: nft,
      control: plain,
      rule: [1, '/dev/stdin: Error: Could not process rule: No such file or directory'],
    },
    presence: 'absent',
    fix: /^boot a kernel with CONFIG_NFT_SOCKET/,
  },
  {
    why: 'no permission',
    id: 'nft-cgroup',
    outputs: { version: nft, control: [1, 'Operation not permitted'], rule: [1, 'Operation not permitted'] },
    presence: 'error',
    fix: /command -v nft; timeout 5 nft list ruleset$/,
  },
  {
    why: 'a refusal without its control',
    id: 'nft-cgroup',
    outputs: { version: nft, control: [1, ''], rule: [1, 'Could not process rule: Operation not supported'] },
    presence: 'error',
  },
  {
    why: 'no such path',
    id: 'nft-cgroup',
    outputs: { version: nft, control: plain, rule: [1, 'cgroupv2 path fails: No such file or directory'] },
    presence: 'error',
  },
  {
    why: 'not installed',
    id: 'bundle',
    outputs: { digest: 'no-file', head: 'no-file' },
    presence: 'absent',
    says: /not installed/,
  },
  {
    why: 'another version',
    id: 'bundle',
    outputs: { digest: [0, `${'b'.repeat(64)}  x`], head: bundleHead('1.2.2') },
    presence: 'absent',
    says: /another version/,
  },
  {
    why: 'a changed program',
    id: 'bundle',
    outputs: { digest: [0, `${'b'.repeat(64)}  x`], head: bundleHead('1.2.3') },
    presence: 'absent',
    says: /was changed/,
  },
  {
    why: 'nothing to compare with',
    id: 'bundle',
    outputs: { digest: [0, `${DIGEST}  x`], head: bundleHead('1.2.3') },
    presence: 'error',
    fix: /^npm run build$/,
    over: { bundleDigest: null },
  },
  { why: 'no profile', id: 'profile', outputs: { digest: 'no-file' }, presence: 'absent' },
  {
    why: 'a unit that is not there',
    id: 'units',
    outputs: { slice: [0, 'LoadState=loaded'], ruleset: [0, 'LoadState=not-found'] },
    presence: 'absent',
    says: /watertight-ruleset/,
  },
  {
    why: 'no systemd to ask',
    id: 'units',
    outputs: { slice: [1, 'Host is down'], ruleset: [1, 'Host is down'] },
    presence: 'error',
  },
  {
    why: 'a flushed ruleset',
    id: 'ruleset',
    outputs: { version: [0, 'nftables v1.0.6 (x)'], tables: [0, 'table inet other'] },
    presence: 'absent',
  },
  {
    why: 'an empty ruleset',
    id: 'ruleset',
    outputs: { version: [0, 'nftables v1.0.6 (x)'], tables: plain },
    presence: 'absent',
  },
  { why: 'a silent nft', id: 'ruleset', outputs: { version: plain, tables: plain }, presence: 'error' },
  { why: 'a hang', id: 'python3', outputs: { version: [124, ''] }, presence: 'error', says: /did not answer in time/ },
];

t.test('judgements', async (t) => {
  for (const { why, id, outputs, presence, says, fix, over } of judgements) {
    const result = judgeAll(transcript(id, outputs), over).get(id);
    t.equal(result?.presence, presence, `${id}: ${why}`, { reason: result?.reason });
    if (says) t.match(`${result?.reason} ${result?.found}`, says, `${id}: ${why}: says so`);
    if (fix) t.match(result?.fix, fix, `${id}: ${why}: is mended so`);
    if (presence !== 'present') t.match(result?.fix, /\w/, `${id}: ${why}: has a fix`);
  }
  t.ok(
    atLeast('1.10', '1.9') && atLeast('2', '1.9') && !atLeast('1.8.9', '1.9') && atLeast('1.9', '1.9'),
    'versions are numbers',
  );
});

t.test('readAnswers makes nothing of what is not whole', async (t) => {
  const whole = await ask(fakeHost());
  const presences = (stdout: Buffer) => [...judgeAll(stdout, fakeClock).values()].map(({ presence }) => presence);
  const allErrors = (stdout: Buffer) => presences(stdout).every((presence) => presence === 'error');
  fc.assert(
    fc.property(fc.nat(whole.length - 12), (at) => allErrors(whole.subarray(0, at))),
    { numRuns: 300 },
  );
  t.pass('cut anywhere: every answer is an error');
  fc.assert(fc.property(fc.uint8Array({ maxLength: 4000 }), (bytes) => allErrors(Buffer.from(bytes))));
  const word = fc.constantFrom(
    'answer',
    'output',
    'status',
    'done',
    'answered',
    'no-file',
    'os',
    'version',
    '0',
    '17',
    '',
    'x',
  );
  const line = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 4 }).map((words) => `@${NONCE}@ ${words.join(' ')}`),
  );
  const lines = fc.array(line, { maxLength: 60 }).map((all) => all.join('\n'));
  const present = (stdout: Buffer) => presences(stdout).includes('present');
  fc.assert(fc.property(lines, (garbage) => !present(Buffer.from(garbage))));
  fc.assert(fc.property(fc.constantFrom(...IDS), lines, (id, garbage) => !present(encoded(id, garbage))));
  t.pass('garbage, marks in any order: nothing is present');
  const text = whole.toString();
  const noise = fc.string().map((noise) => noise.replaceAll('@', ''));
  fc.assert(
    fc.property(
      noise,
      noise,
      (before, after) =>
        !presences(Buffer.from(`${before}\n${text}\n${after}\n`)).some((presence) => presence !== 'present'),
    ),
  );
  t.pass("a login script's echo around it does no harm");
  const flipped = fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
    const copy = Buffer.from(whole);
    copy[at] = byte;
    return copy;
  });
  fc.assert(fc.property(flipped, (copy) => presences(copy).length === IDS.length));
  t.pass('a changed byte never throws');
  t.ok(allErrors(Buffer.concat([whole, whole])), 'told twice is not told');
  t.ok(allErrors(Buffer.concat([whole, Buffer.from(marked(`done ${IDS.length}`))])), 'ended twice is not ended');
  const again = text.split('\n').find((found) => found.includes(' answer kernel ')) ?? '';
  const twice = judgeAll(Buffer.from(`${again}\n${text}`), fakeClock);
  t.equal(twice.get('kernel')?.presence, 'error', 'two answers to one question are none');
  t.equal(twice.get('node')?.presence, 'present', 'and the others stand');
  const unended = `${marked('output release')}6.1.0${marked('status release 0')}`;
  t.equal(judgeAll(encoded('kernel', unended)).get('kernel')?.presence, 'error', 'an answer without its end is none');
  t.ok(allErrors(Buffer.alloc(4 << 20, 0xff)), '4 MB that are no text');
});

t.test('probe', async (t) => {
  const target = (outcome: ExecOutcome, stdout = ''): Target => ({
    name: 'lab-01',
    exec: async (request) => {
      t.equal(request.become, true, 'asks as root');
      t.same(
        request.command.slice(3),
        questionsFor('verify').map(({ id }) => id),
        'asks what the phase needs',
      );
      return { outcome, stdout: Buffer.from(stdout), stderr: Buffer.alloc(0), durationMs: 1 };
    },
    upload: () => Promise.reject(new Error('nothing to upload')),
    close: async () => {},
  });
  const options = { phase: 'verify', bundleDigest: DIGEST, version: '1' } as const;
  const refused: ExecOutcome = { kind: 'become-refused', detail: 'a password is required' };
  t.same(
    await probe(target(refused), options),
    { kind: 'not-asked', outcome: refused },
    'a host that was not asked has no answers',
  );
  for (const outcome of [
    { kind: 'exited', status: 0 },
    { kind: 'exited', status: 1 },
    { kind: 'timed-out', afterMs: 1 },
  ] as const) {
    const report = await probe(target(outcome, 'hello'), options);
    if (report.kind !== 'asked') return t.fail('was asked');
    t.ok(
      report.results.length > 10 && report.results.every(({ presence }) => presence === 'error'),
      `${outcome.kind}: errors all`,
    );
  }
  t.match(
    readFileSync('scripts/build.mjs', 'utf8'),
    '\\n// watertight $' + '{version}\\n',
    'the build writes the version where the probe looks',
  );
});
