import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import fc from 'fast-check';
import pc from 'picocolors';
import t from 'tap';
import { acquireHostLock } from '../../core/host-lock.js';
import type { ExitCode } from '../../core/outcome.js';
import type { ExecOutcome, ExecRequest, ExecResult, Target } from '../../core/target/target.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Change, Operation } from '../../profiles/resources/change.js';
import { run } from '../../profiles/resources/change.js';
import installScript from '../../profiles/resources/install-packages.sh';
import { applyChanges, rollBack } from '../../scripts/provision/apply.js';
import { connectTo } from '../../scripts/provision/connect.js';
import { listenToController } from '../../scripts/provision/controller-channel.js';
import { provisionHost } from '../../scripts/provision/controller-run.js';
import { deprovisionHost } from '../../scripts/provision/deprovision-run.js';
import { rememberProof } from '../../scripts/provision/earlier-proof.js';
import type { ProvisionEvent } from '../../scripts/provision/events.js';
import { deprovisionHosts } from '../../scripts/provision/hosts.js';
import { Journal } from '../../scripts/provision/journal.js';
import { leaveNoTrace } from '../../scripts/provision/leave-no-trace.js';
import { provisionHere } from '../../scripts/provision/local-run.js';
import { perform } from '../../scripts/provision/perform.js';
import { readEvent } from '../../scripts/provision/read-event.js';
import { runRemotely } from '../../scripts/provision/remote-run.js';
import { humanReport, ndjsonReport } from '../../scripts/provision/report.js';

const ACME = {
  name: 'acme',
  allow: ['example.com'],
  runtimes: ['opencode'],
  proxy: { address: '127.86.0.2', port: 3128 },
};
const PROFILE: HostProfile = { version: 1, host: 'browser-01', tenants: [ACME] };
const SUDOERS = '/etc/sudoers.d/watertight-acme';
const folder = mkdtempSync(join(tmpdir(), 'watertight-test-'));
t.teardown(() => rmSync(folder, { recursive: true }));
let journals = 0;
const newJournal = () => new Journal(join(folder, String(++journals)));

/** A target that runs nothing: it keeps what it was asked, and answers as it is told. */
function fakeTarget(answer: (request: ExecRequest) => ExecOutcome | Promise<ExecOutcome> = () => EXITED) {
  const asked: string[] = [];
  const result = async (outcome: ExecOutcome | Promise<ExecOutcome>, stdout = ''): Promise<ExecResult> => ({
    outcome: await outcome,
    stdout: Buffer.from(stdout),
    stderr: Buffer.from('its last words\n'),
    durationMs: 1,
  });
  const target: Target = {
    name: 'fake',
    exec: (request) => {
      const [, shell, , nonce = '', manifest = '', ...subjects] = request.command;
      if (shell === '-s' && manifest.endsWith('manifest')) return result(answer(request), bareFacts(nonce, subjects));
      asked.push(request.command.join(' '));
      return result(answer(request));
    },
    upload: (file) => {
      asked.push(`upload ${file.path}`);
      return result(answer({ command: ['upload', file.path], deadlineMs: 1 }));
    },
    close: async () => {},
  };
  return { target, asked };
}

/** What a bare host answers when it is asked for its facts. */
function bareFacts(nonce: string, subjects: readonly string[]): string {
  const named = (kind: string) => subjects.filter((_, index) => index % 2 === 1 && subjects[index - 1] === kind);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const units = named('unit').map((name) => `Id=${name}\nLoadState=not-found\nActiveState=inactive\n`);
  const records = [
    ...['file', 'user'].flatMap((kind) => named(kind).map((name) => [kind, name, 'absent'])),
    ['units', '0', base64(units.join('\n'))],
    ['packages', '0', ''],
    ['ruleset', 'live', 'no-tool', ''],
    ['end', 'ok'],
  ];
  return records.map((fields) => `${[nonce, ...fields].join('\t')}\n`).join('');
}

const PLAIN = { dryRun: false, diff: false };
type Finished = Extract<ProvisionEvent, { type: 'finished' }>;
const EXITED: ExecOutcome = { kind: 'exited', status: 0 };
const FAILED: ExecOutcome = { kind: 'exited', status: 1 };

function change(id: string, over: Partial<Change> = {}): Change {
  return {
    id,
    kind: 'file',
    stage: 'files',
    summary: `make ${id}`,
    diff: null,
    operations: [run(['make', id])],
    undo: [run(['unmake', id])],
    settle: [],
    kept: [],
    ...over,
  };
}

interface Scenario {
  readonly proof?: ExitCode;
  readonly commits?: boolean;
  readonly answer?: (request: ExecRequest) => ExecOutcome;
  readonly abortAt?: string;
  readonly fault?: string;
  /** What an earlier run, which was cut off, has noted. */
  readonly noted?: Change;
}

/** One run on a host that holds nothing yet. */
async function runHere({ proof = 0, commits = true, answer, abortAt, fault, noted }: Scenario) {
  const { target, asked } = fakeTarget(answer);
  const events: ProvisionEvent[] = [];
  const stop = new AbortController();
  const journal = newJournal();
  if (noted !== undefined) journal.note(noted);
  const exit = await provisionHere({
    profile: PROFILE,
    bundle: { sha256: 'a'.repeat(64), staged: '/staged' },
    target,
    journal,
    emit: (event) => {
      events.push(event);
      if (abortAt !== undefined && event.type === 'step' && event.id.startsWith(abortAt)) stop.abort();
    },
    signal: stop.signal,
    prove: async () => {
      asked.push('PROOF');
      if (fault !== undefined) throw new Error(fault);
      return proof;
    },
    restoreProof: () => {
      asked.push('PROOF RESTORED');
    },
    confirmed: async () => {
      asked.push('CONFIRM');
      return commits;
    },
  });
  return { exit, asked, events, finished: events.at(-1), left: journal.read().length };
}

t.test('a run is one transaction', async (t) => {
  const given = `mv -fT -- ${SUDOERS}.candidate ${SUDOERS}`;
  const undone = ['rm -f -- /etc/watertight/watertight.nft', 'userdel -- wt-acme', 'systemctl daemon-reload'];

  const good = await runHere({});
  t.match(good, { exit: 0, finished: { type: 'finished', result: 'converged' }, left: 0 });
  const order = ['nft -f /etc/watertight/watertight.nft', 'PROOF', `visudo -cf ${SUDOERS}.candidate`, given, 'CONFIRM'];
  t.strictSame(
    good.asked.filter((command) => order.includes(command)),
    order,
    'contain, prove, permit, confirm',
  );

  const cases: readonly { why: string; scenario: Scenario; exit: number }[] = [
    { why: 'disproved', scenario: { proof: 1 }, exit: 1 },
    { why: 'could not be told', scenario: { proof: 2 }, exit: 2 },
    { why: 'nobody gets in any more', scenario: { commits: false }, exit: 2 },
    { why: 'the disk is full', scenario: { fault: 'ENOSPC' }, exit: 2 },
    {
      why: 'a step fails',
      scenario: { answer: ({ command }) => (command[0] === 'nft' && command[2] !== '-' ? FAILED : EXITED) },
      exit: 1,
    },
    { why: 'the controller is gone in the middle', scenario: { abortAt: 'ruleset:' }, exit: 2 },
  ];
  for (const { why, scenario, exit } of cases) {
    const { asked, finished, left, ...ended } = await runHere(scenario);
    t.equal(ended.exit, exit, why);
    t.match(finished, { type: 'finished', result: 'rolled-back' }, why);
    for (const command of undone) t.ok(asked.includes(command), `${why}: ${command}`);
    const permitted = asked.lastIndexOf(given);
    t.ok(permitted === -1 || asked.indexOf(`rm -f -- ${SUDOERS}`) > permitted, `${why}: no permission is left`);
    t.equal(left, 0, why);
    t.ok(asked.includes('PROOF RESTORED'), `${why}: the proof of what was is back`);
  }

  const blind = await runHere({ answer: () => FAILED });
  t.match(blind, { exit: 2, finished: { result: 'untouched' }, asked: [] }, 'without facts nothing is touched');
});

t.test('what cannot be taken back is said, and kept for the next run', async (t) => {
  const { target, asked: first } = fakeTarget(({ command }) => (command[0] === 'userdel' ? FAILED : EXITED));
  const journal = newJournal();
  journal.note(change('withdraw:/etc/a', { stage: 'withdraw', undo: [], settle: [run(['permit'])] }));
  journal.note(change('b', { undo: [run(['userdel', 'x'])] }));
  const { asked, target: healthy } = fakeTarget();
  t.match(await rollBack(target, journal), {
    failures: [/userdel.*status 1.*its last words/],
    changes: 0,
    kept: [/the permission .* stays withdrawn/],
  });
  t.equal(journal.read().length, 2);
  t.notOk(first.includes('permit'), 'no permission on a host that is in between');
  t.match(await rollBack(healthy, journal), { failures: [], changes: 2, kept: [], whole: true });
  t.strictSame(asked, ['userdel x', 'systemctl daemon-reload', 'permit'], 'permission comes back last');
  t.equal(journal.read().length, 0);
});

t.test('a run that is taken back says how much of it was, what was not, and what completes it', async (t) => {
  const first = await runHere({ proof: 1 });
  const plan = first.events.find(({ type }) => type === 'plan');
  const announced = plan?.type === 'plan' ? plan.changes.length : 0;
  t.match(first.finished, {
    result: 'rolled-back',
    changes: announced,
    // All but the permission were begun, and the packages stay.
    takenBack: { changes: announced - 2, kept: [/^the packages stay installed.*nodejs/] },
  });
  t.match(
    first.events.find(({ type }) => type === 'failure'),
    { reason: 'containment was not proven', fix: null },
  );
  const stays = 'the permission p stays withdrawn';
  const noted = change('withdraw:p', { stage: 'withdraw', undo: [], kept: [stays] });
  const mended = await runHere({ proof: 1, noted });
  t.match(mended.finished, { result: 'rolled-back-in-part', takenBack: { kept: [stays, /packages/] } });
  t.match(
    mended.events.find(({ type }) => type === 'failure'),
    { kind: 'rolled-back-in-part', fix: 'watertight provision browser-01' },
  );
  t.notMatch(JSON.stringify([...first.events, ...mended.events]), /the host is as it was/);
  const faulty = await runHere({ answer: () => FAILED, noted });
  t.match(faulty.finished, { result: 'untouched', changes: 0 }, 'nothing was begun');
});

t.test('the last sentence', async (t) => {
  const stays = 'the permission p stays withdrawn';
  const cases: readonly { why: string; event: Partial<Finished>; says: string }[] = [
    {
      why: 'done',
      event: { result: 'converged', changes: 28 },
      says: 'h is contained, every claim proven: 28 changes (1.0 s)',
    },
    {
      why: 'all taken back',
      event: { result: 'rolled-back', changes: 3, takenBack: { changes: 2, kept: [] } },
      says: 'h is as it was before this run: 2 changes taken back (1.0 s)',
    },
    {
      why: 'some of it stays',
      event: { result: 'rolled-back-in-part', changes: 3, takenBack: { changes: 1, kept: [stays] } },
      says: `h is as it was before this run but for what stays: 1 change taken back, 1 not (1.0 s)\n  stays: ${stays}\n  complete it: watertight provision h`,
    },
  ];
  for (const { why, event, says } of cases) {
    let text = '';
    const out = (more: string) => {
      text += more;
    };
    const colours = pc.createColors(false);
    const report = humanReport({ out, err: () => {}, outColours: colours, errColours: colours }, PLAIN);
    report({ type: 'started', schema: 'watertight/provision/1', host: 'h', tenants: [], at: '', version: '1' });
    report({ type: 'finished', exit: 0, result: 'unknown', changes: 0, durationMs: 1000, ...event });
    t.equal(text, `${says}\n`, why);
  }
});

t.test("of apt's words, one line a package", async (t) => {
  const said: string[] = [];
  const apt = [
    'Need to get 38.3 MB of archives.',
    'Get:1 http://mirror.example/debian bookworm/main amd64 nodejs amd64 18.20.4 [324 kB]',
    'Unpacking nodejs (18.20.4) ...',
    'Setting up nodejs (18.20.4) ...',
    'Removing nftables (1.0.6) ...',
    'Purging configuration files for nftables (1.0.6) ...',
    'Waiting for cache lock: held by process 7',
    'Waiting for cache lock: held by process 7',
  ];
  const { target } = fakeTarget((request) => {
    for (const line of apt) request.onLine?.(line);
    return EXITED;
  });
  await perform(target, { do: 'run', command: ['apt'], deadlineMs: 1, progress: true }, (line) => said.push(line));
  t.strictSame(said, [apt[0], apt[3], apt[4], apt[6]]);
});

/** Says so of every package until the lists were fetched; with `broken` afterwards too. */
const FAKE_APT = `#!/bin/sh
case "$*" in
  *' update'*) : >"$FAKE/fetched" ;;
  *' -s '*) exit 0 ;;
  *) [ -e "$FAKE/fetched" ] && [ ! -e "$FAKE/broken" ] && exec echo 'Setting up a (1) ...'
    echo 'E: Unable to locate package a'
    exit 100 ;;
esac
`;

t.test('an error of apt is said only where the last attempt ends with it', async (t) => {
  for (const broken of [false, true]) {
    const program = { mode: 0o755 };
    const fake = t.testdir();
    writeFileSync(join(fake, 'apt-get'), FAKE_APT, program);
    for (const name of ['dpkg', 'dpkg-query']) writeFileSync(join(fake, name), '#!/bin/sh\n', program);
    if (broken) writeFileSync(join(fake, 'broken'), '');
    const script = installScript.replace(/\bPATH=/, `PATH=${fake}:`).replace('mktemp /run/', `mktemp ${fake}/`);
    const { stdout, exitCode } = await execa('/bin/sh', ['-s', '--', join(fake, 'note'), 'a'], {
      input: script,
      env: { FAKE: fake },
      reject: false,
    });
    t.equal(exitCode, broken ? 100 : 0);
    t.equal(stdout, broken ? 'E: Unable to locate package a' : 'Setting up a (1) ...');
  }
});

t.test('changes stop at the first that fails, and are in the journal before they begin', async (t) => {
  const journal = newJournal();
  const noted: number[] = [];
  const { target, asked } = fakeTarget(({ command }) => {
    noted.push(journal.read().length);
    return command[1] === 'b' ? FAILED : EXITED;
  });
  const context = { target, journal, emit: () => {}, signal: new AbortController().signal };
  t.match(await applyChanges([change('a'), change('b'), change('c')], context), { kind: 'failed', reason: /make b/ });
  t.strictSame(asked, ['make a', 'make b']);
  t.strictSame(noted, [1, 2]);
  const late = { ...context, signal: AbortSignal.abort() };
  t.match(await applyChanges([change('d')], late), { kind: 'aborted' });
  t.notOk(asked.includes('make d'), 'nothing more is begun once it is to end');
});

t.test('the journal', async (t) => {
  const journal = newJournal();
  t.strictSame(journal.read(), [], 'there is none at first');
  const content = Buffer.from([0, 255, 10, 13]);
  const write: Operation = { do: 'write', path: '/a', content, mode: 0o600, owner: 'root', group: 'root' };
  const { id, stage, undo, settle, kept } = change('a', { undo: [write, run(['x', 'a b'], { accept: [6] })] });
  journal.note({ id, stage, undo, settle, kept });
  t.strictSame(journal.read(), [{ id, stage, undo, settle, kept }], 'bytes come back as bytes');
  const path = join(journal.directory, 'journal');
  t.equal(statSync(path).mode & 0o777, 0o600, 'old contents of files are for root alone');
  appendFileSync(path, '{"id":"cut o');
  t.equal(journal.read().length, 1, 'a line that was cut off describes nothing that was begun');
  journal.note({ id, stage, undo, settle, kept });
  t.equal(journal.read().length, 2, 'and the next run writes on after it');
  journal.clear();
  t.strictSame(journal.read(), []);
});

t.test('files that need it are made ready under another name', async (t) => {
  const sudoers: Operation = {
    do: 'write',
    path: SUDOERS,
    content: Buffer.from('x'),
    mode: 0o440,
    owner: 'root',
    group: 'root',
    check: ['visudo', '-cf'],
  };
  const place = `${SUDOERS}.candidate`;
  const { target, asked } = fakeTarget();
  t.equal(await perform(target, sudoers), null);
  t.strictSame(asked, [
    `upload ${place}`,
    `chown -- root:root ${place}`,
    `chmod -- 0440 ${place}`,
    `visudo -cf ${place}`,
    `mv -fT -- ${place} ${SUDOERS}`,
  ]);
  const refusing = fakeTarget(({ command }) => (command[0] === 'visudo' ? FAILED : EXITED));
  t.match(await perform(refusing.target, sudoers), /visudo.*its last words/);
  t.equal(refusing.asked.at(-1), `rm -f -- ${place}`, 'what is refused never takes its place');
});

t.test('what the controller says to the host', async (t) => {
  const talk = (...lines: readonly string[]) => {
    const input = new PassThrough();
    const channel = listenToController(input);
    for (const line of lines) input.write(`${line}\n`);
    return { input, channel };
  };
  const good = talk('{"version":1}', 'commit');
  t.strictSame(await good.channel.profile, { version: 1 });
  t.equal(await good.channel.confirmed(60_000), true);
  good.channel.close();

  const cut = talk('{"version":1}');
  await cut.channel.profile;
  cut.input.end();
  t.equal(await cut.channel.confirmed(60_000), false, 'the end of input is no commit');
  t.ok(cut.channel.gone.aborted);

  const both = talk('{"version":1}', 'commit');
  both.input.end();
  await both.channel.profile;
  t.equal(await both.channel.confirmed(60_000), true, 'a commit counts though the connection ends right after it');

  const silent = talk('{"version":1}', 'commit please');
  t.equal(await silent.channel.confirmed(10), false, 'only the word itself commits');
  silent.channel.close();

  const mute = talk();
  mute.input.end();
  t.equal(await mute.channel.profile, null, 'gone before it said anything');
});

/** A host that plays its part: says its lines, and ends when its input ends or commits. */
function playing(lines: readonly object[], ending: (heard: string) => ExecOutcome) {
  const heard: string[] = [];
  const target: Target = {
    ...fakeTarget().target,
    exec: async (request) => {
      const input = request.input as PassThrough;
      input.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
      for (const line of lines) request.onLine?.(JSON.stringify(line));
      request.onLine?.('Warning: some program said this');
      await new Promise((resolve) => {
        input.on('end', resolve);
        input.on('data', () => heard.join('').includes('commit') && resolve(null));
      });
      return { outcome: ending(heard.join('')), stdout: Buffer.alloc(0), stderr: Buffer.from('oops'), durationMs: 1 };
    },
  };
  return { target, heard };
}

const FINISHED = { type: 'finished', exit: 0, result: 'converged', changes: 3, durationMs: 1 };

t.test('the controller commits only after a second connection got in', async (t) => {
  const play = async (lines: readonly object[], second: ExecOutcome, ending: (heard: string) => ExecOutcome) => {
    const { target, heard } = playing(lines, ending);
    const events: ProvisionEvent[] = [];
    const stop = new AbortController();
    const exit = await runRemotely({
      target,
      connectAfresh: () => fakeTarget(() => second).target,
      profile: PROFILE,
      program: '/p.mjs',
      announced: 4,
      brought: [{ summary: 'install nodejs', kept: ['the packages stay'] }],
      emit: (event) => events.push(event),
      signal: stop.signal,
    });
    return { exit, heard: heard.join(''), events };
  };
  const confirm = { type: 'confirm', withinMs: 1 };
  const good = await play([confirm, FINISHED], EXITED, () => EXITED);
  t.equal(good.exit, 0);
  t.match(good.events.at(-1), { type: 'finished', changes: 4 }, 'what was done before the host began counts');
  const planOf = (length: number) => ({
    type: 'plan',
    changes: Array.from({ length }, () => ({ id: 'a', kind: 'file', summary: 'a', diff: null })),
  });
  const same = await play([planOf(3), confirm, FINISHED], EXITED, () => EXITED);
  t.notOk(
    same.events.some(({ type }) => type === 'plan'),
    'a plan is announced once',
  );
  const other = await play([planOf(2), confirm, FINISHED], EXITED, () => EXITED);
  t.match(
    other.events,
    [{ type: 'progress', text: /planned anew/ }, { type: 'plan' }],
    'another plan is said to be one',
  );
  const back = { ...FINISHED, exit: 1, result: 'rolled-back', takenBack: { changes: 2, kept: ['b stays'] } };
  const taken = await play([confirm, back], EXITED, () => FAILED);
  t.match(taken.events.at(-1), { takenBack: { changes: 2, kept: ['the packages stay', 'b stays'] } });
  const conflict = await play(
    [confirm, { ...FINISHED, exit: 1, result: 'untouched', changes: 0 }],
    EXITED,
    () => FAILED,
  );
  t.match(
    conflict.events.at(-1),
    { result: 'rolled-back', takenBack: { changes: 0, kept: ['the packages stay'] } },
    'a host that was given packages was touched',
  );
  t.match(good.heard, /^\{.*\}\ncommit\n$/s, 'the profile, then the word');
  const refused: ExecOutcome = { kind: 'become-refused', detail: 'sudo wants a password' };
  const bad = await play([confirm], refused, () => FAILED);
  t.notMatch(bad.heard, /commit/);
  t.equal(bad.exit, 2, 'a run without a result is not told, whatever its status');
  t.match(
    bad.events.find(({ type }) => type === 'failure'),
    { reason: /without a result.*oops/ },
  );
});

t.test('a port that nobody listens on: could not tell, and nothing was touched', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const entry = {
    name: 'h',
    address: '127.0.0.1',
    port,
    user: 'u',
    become: 'sudo',
    local: false,
    tenants: [],
  } as const;
  const events: ProvisionEvent[] = [];
  const common = {
    profile: PROFILE,
    connect: () => connectTo(entry),
    emit: (event: ProvisionEvent) => events.push(event),
    signal: new AbortController().signal,
    dryRun: false,
  };
  const bundle = { content: Buffer.alloc(1), sha256: 'a'.repeat(64) };
  t.equal(await provisionHost({ ...common, bundle }), 2);
  t.match(events.slice(-2), [
    { type: 'failure', reason: /refused/i },
    { type: 'finished', exit: 2, result: 'untouched', changes: 0 },
  ]);
  events.length = 0;
  t.equal(await deprovisionHost({ ...common, keepPackages: false }), 2);
  t.match(events.at(-1), { type: 'finished', exit: 2, changes: 0 });
});

t.test('which hosts: named, or all of them', async (t) => {
  const folder = t.testdir({
    'one.yaml':
      'version: 1\nhosts:\n  h:\n    address: 192.0.2.1\n    tenants: [acme]\ntenants:\n  acme:\n    allow: [example.com]\n    runtimes: [opencode]\n',
  });
  const config = join(folder, 'one.yaml');
  const flags = { config, format: 'human' } as const;
  await t.rejects(deprovisionHosts(['a'], { ...flags, all: true }), { exit: 64, message: /name hosts, or say --all/ });
  await t.rejects(deprovisionHosts([], flags), {
    exit: 64,
    message: /none was named/,
    fix: 'watertight deprovision h',
  });
});

t.test('lines of a host are read with care', async (t) => {
  t.equal(readEvent('not json'), null);
  t.equal(readEvent('null'), null);
  t.equal(readEvent('{"type":"plan","changes":7}'), null, 'a field of another type');
  t.equal(readEvent('{"type":"toString"}'), null);
  t.match(readEvent('{"type":"progress","text":"x"}'), { text: 'x' });
  const finished = (takenBack: unknown) => readEvent(JSON.stringify({ ...FINISHED, takenBack }));
  t.match(finished({ changes: 1, kept: ['a'] }), { takenBack: { changes: 1 } });
  for (const bad of [null, 7, {}, { changes: 1, kept: 'a' }, { changes: 1, kept: [1] }, { changes: 'a', kept: [] }]) {
    t.equal(finished(bad), null, JSON.stringify(bad));
  }
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const text = JSON.stringify(value) ?? 'undefined';
      readEvent(text);
      return true;
    }),
  );
});

t.test('nothing that a host says can steer the terminal', async (t) => {
  const hostile = 'x\u001b]0;owned\u0007\u202e\n- fake line';
  const events: ProvisionEvent[] = [
    { type: 'started', schema: 'watertight/provision/1', host: hostile, tenants: [], at: '', version: hostile },
    { type: 'progress', text: hostile },
    { type: 'plan', changes: [{ id: hostile, kind: 'file', summary: hostile, diff: `+${hostile}` }] },
    { type: 'step', id: hostile, summary: hostile, state: 'failed', detail: hostile },
    { type: 'prerequisite', id: hostile, presence: 'absent', found: hostile, reason: hostile, fix: hostile },
    {
      type: 'claim',
      id: hostile,
      tenant: hostile,
      claim: hostile,
      layer: 'cgroup',
      verdict: 'disproved',
      reason: hostile,
      evidence: {},
      hint: null,
    },
    { type: 'rollback', reason: hostile },
    { type: 'failure', kind: hostile, reason: hostile, fix: hostile },
    { type: 'finished', exit: 1, result: 'rolled-back', changes: 1, durationMs: 1 },
  ];
  for (const make of [
    ndjsonReport,
    (streams: Parameters<typeof ndjsonReport>[0]) => humanReport(streams, { dryRun: true, diff: true }),
  ]) {
    let text = '';
    const write = (more: string) => {
      text += more;
    };
    const report = make({
      out: write,
      err: write,
      outColours: pc.createColors(false),
      errColours: pc.createColors(false),
    });
    for (const event of events) report(event);
    t.notMatch(text, /[\u001b\u0007\u202e]/);
    t.notMatch(text, /^- fake/m, 'and no line can be forged outside a diff');
  }
});

t.test("the host's lock is one's own, says who holds it, and is freed with its holder", async (t) => {
  const path = join(folder, 'run', 'lock');
  const first = await acquireHostLock(path, { waitMs: 0, who: 'provision' });
  if (first.kind !== 'locked') throw new Error(JSON.stringify(first));
  t.equal(statSync(path).mode & 0o777, 0o600, 'who can read a lock can take it');
  t.match(await acquireHostLock(path, { waitMs: 0, who: 'verify' }), { kind: 'held', by: /^provision, process \d+$/ });
  const waiting = acquireHostLock(path, { waitMs: 20_000, who: 'verify' });
  await first.release();
  const second = await waiting;
  t.equal(second.kind, 'locked', 'whoever waited has it now');
  if (second.kind === 'locked') await second.release();
  await first.release();
  const third = await acquireHostLock(path, { waitMs: 0, who: 'provision' });
  if (third.kind !== 'locked') throw new Error(JSON.stringify(third));
  const late = acquireHostLock(path, { waitMs: 20_000, who: 'verify' });
  const flocks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${inode} `));
  const inode = statSync(path).ino;
  while (flocks().length < 2) await delay(10);
  const places = { signs: [join(folder, 'sign')], state: join(folder, 'none'), run: dirname(path) };
  writeFileSync(join(folder, 'sign'), '');
  leaveNoTrace(places);
  t.ok(existsSync(path), 'a host that holds something of ours keeps its lock');
  rmSync(join(folder, 'sign'));
  leaveNoTrace(places);
  t.notOk(existsSync(dirname(path)));
  await third.release();
  const fourth = await late;
  t.equal(fourth.kind, 'locked');
  t.match(
    await acquireHostLock(path, { waitMs: 0, who: 'provision' }),
    { kind: 'held', by: /^verify/ },
    'whoever waited for a lock that was taken away holds the one that others see',
  );
  if (fourth.kind === 'locked') await fourth.release();
  t.match(await acquireHostLock(join(path, 'lock'), { waitMs: 0, who: 'x' }), { kind: 'error' });
});

t.test('a rollback puts the proof back that stood before', async (t) => {
  const path = join(folder, 'attestation.json');
  const none = rememberProof(path);
  writeFileSync(path, 'of a state that was taken back');
  none();
  t.notOk(existsSync(path), 'none stood there');
  writeFileSync(path, 'earlier');
  const earlier = rememberProof(path);
  writeFileSync(path, 'later');
  earlier();
  t.equal(readFileSync(path, 'utf8'), 'earlier');
});
