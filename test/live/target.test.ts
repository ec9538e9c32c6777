import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { sshTarget } from '../../core/target/ssh.js';
import { resolveSshSettings, type SshHostEntry } from '../../core/target/ssh-settings.js';
import { type ExecRequest, type ExecResult, succeeded, type Target } from '../../core/target/target.js';
import { onHost, useLab } from '../fixtures/lab.js';

const lab = await useLab(1);
const [host] = lab.hosts;
if (host === undefined) throw new Error('the lab has no host');
const folder = mkdtempSync(join(tmpdir(), 'watertight-target-'));

/** Users of this test alone: one whose .bashrc talks, one whom sudo asks for a password, one who may not log in. */
const NOISY = 'tgt-noisy';
const PASSWORD = 'tgt-password';
const NOLOGIN = 'tgt-nologin';

async function onTheHost(script: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await onHost(lab, host?.name ?? '', ['sh', '-c', script, 'sh', ...args]);
  if (status !== 0) throw new Error(`${script}: ${status}: ${stderr}`);
  return stdout;
}

const publicKey = execFileSync('ssh-keygen', ['-y', '-f', lab.identity], { encoding: 'utf8' });
await onTheHost(
  `set -e
  for user in ${NOISY} ${PASSWORD} ${NOLOGIN}; do
    id "$user" >/dev/null 2>&1 || useradd -m -s /bin/bash "$user"
    install -d -m 700 -o "$user" "/home/$user/.ssh"
    echo "$1" >"/home/$user/.ssh/authorized_keys"
    chown -R "$user": "/home/$user/.ssh"
  done
  usermod -s /usr/sbin/nologin ${NOLOGIN}
  echo 'echo noise from .bashrc; echo more of it >&2' >/home/${NOISY}/.bashrc
  echo '${NOISY} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/tgt-noisy
  echo '${PASSWORD} ALL=(ALL) ALL' >/etc/sudoers.d/tgt-password`,
  publicKey,
);

const open: Target[] = [];
t.teardown(async () => {
  await Promise.all(open.map((target) => target.close()));
  rmSync(folder, { recursive: true });
  const users = [NOISY, PASSWORD, NOLOGIN].map((user) => `pkill -KILL -u ${user}; userdel -rf ${user}`).join(';');
  await onTheHost(`(${users}; rm -f /etc/sudoers.d/tgt-* /root/tgt-*) 2>/dev/null; true`);
});

function connect(more: Partial<SshHostEntry> = {}, connectTimeoutMs = 20_000): Target {
  const entry = {
    name: 'target',
    address: host?.address ?? '',
    user: NOISY,
    identity: lab.identity,
    knownHosts: lab.knownHosts,
    ...more,
  };
  const target = sshTarget(resolveSshSettings(entry, { configFiles: [], environment: {}, connectTimeoutMs }));
  open.push(target);
  return target;
}

const shared = connect();
const run = (command: ExecRequest['command'], more: Partial<ExecRequest> = {}, target = shared): Promise<ExecResult> =>
  target.exec({ command, deadlineMs: 20_000, ...more });
const sh = (script: string, more: Partial<ExecRequest> = {}, target = shared) =>
  run(['/bin/sh', '-c', script], more, target);

/** Waits until no process on the host has the word among its arguments. */
async function gone(word: string, seconds = 5): Promise<boolean> {
  // The list is complete before anything looks for the word, and the script itself gets it in another shape.
  const script = `all=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n')
    printf '%s\\n' "$all" | grep -qxF -e "\${1#x}" && echo there || echo gone`;
  for (let tries = 0; tries < seconds * 5; tries += 1) {
    if ((await onTheHost(script, `x${word}`)) === 'gone\n') return true;
    await sleep(200);
  }
  return false;
}

/** Starts a long program on the target; gives its result and the host's number of the sshd process that serves it. */
async function withServer(
  target: Target,
  length: string,
  request: Partial<ExecRequest> = {},
): Promise<[Promise<ExecResult>, string]> {
  let said: (line: string) => void = () => {};
  const line = new Promise<string>((resolve) => {
    said = resolve;
  });
  const script = 'echo "$(cut -d" " -f4 /proc/$PPID/stat)"; sleep "$1"';
  const result = run(['/bin/sh', '-c', script, 'sh', length], { onLine: (text) => said(text), ...request }, target);
  return [result, await line];
}

t.test('each end of a program is told from the others', async (t) => {
  const cases: { why: string; script: string; more?: Partial<ExecRequest>; outcome: object }[] = [
    { why: 'status 0', script: 'exit 0', outcome: { kind: 'exited', status: 0 } },
    { why: 'status 3 is no error of the connection', script: 'exit 3', outcome: { kind: 'exited', status: 3 } },
    { why: 'stderr with status 0 is no failure', script: 'echo x >&2', outcome: { kind: 'exited', status: 0 } },
    { why: 'a status that looks like a signal', script: 'exit 137', outcome: { kind: 'exited', status: 137 } },
    { why: 'the status that timeout has', script: 'exit 124', outcome: { kind: 'exited', status: 124 } },
    { why: 'the status that a shell has', script: 'exit 127', outcome: { kind: 'exited', status: 127 } },
    { why: 'SIGKILL', script: 'kill -KILL $$', outcome: { kind: 'signalled', signal: 'SIGKILL' } },
    { why: 'SIGSEGV', script: 'kill -SEGV $$', outcome: { kind: 'signalled', signal: 'SIGSEGV' } },
    {
      why: 'too much output',
      script: 'yes',
      more: { maxBytes: 1000 },
      outcome: { kind: 'output-limit', limitBytes: 1000 },
    },
  ];
  for (const become of [false, true]) {
    for (const { why, script, more, outcome } of cases) {
      t.same((await sh(script, { become, ...more })).outcome, outcome, `${why}${become ? ', through sudo' : ''}`);
    }
    t.match((await run(['nonesuch'], { become })).outcome, { kind: 'cannot-spawn', detail: /nonesuch/ });
    t.match((await run(['/etc'], { become })).outcome, { kind: 'cannot-spawn', detail: /[Pp]ermission/ });
  }
  t.match((await run(['a\0b'])).outcome, { kind: 'cannot-spawn' }, 'what no process can be given');
});

t.test('output is the program’s, byte for byte', async (t) => {
  const said = await sh('printf " x \\n\\n"; printf "\\377 y\\n" >&2');
  t.equal(said.stdout.toString(), ' x \n\n', 'no noise of .bashrc, nothing trimmed');
  t.same(said.stderr, Buffer.from([255, 32, 121, 10]), 'nor on stderr');
  const odd = ['', "it's", '$(id)', 'a\nb', 'é😀', '-n', '*'];
  for (const become of [false, true]) {
    const echoed = await run(['printf', '%s\\0', ...odd], { become });
    t.equal(echoed.stdout.toString(), odd.map((arg) => `${arg}\0`).join(''), 'arguments');
    const environment = { A: "x 'y\n$(id)", PATH: '/usr/bin', n: '5' };
    const variables = await sh('printf "%s|%s|%s" "$A" "$PATH" "$n"', { become, environment });
    t.equal(variables.stdout.toString(), "x 'y\n$(id)|/usr/bin|5", 'variables, after sudo');
  }
  t.equal((await run(['id', '-u'], { become: true })).stdout.toString(), '0\n');
  t.ok(succeeded(await sh('command -v ip && command -v sysctl')), 'sbin is in the PATH');
});

t.test('4 MiB are identical', async (t) => {
  const text = Buffer.from('é漢😀\n'.repeat(400_000)).subarray(1, 4 * 1024 * 1024);
  const bytes = Buffer.from(Array.from({ length: 4 * 1024 * 1024 }, (_, at) => (at * 7 + (at >> 9)) % 256));
  for (const input of [text, bytes]) {
    const both = await sh('tee /dev/stderr', { input });
    t.ok(both.stdout.equals(input), 'on stdout');
    t.ok(both.stderr.equals(input), 'on stderr');
  }
});

t.test('an input that stays open is streamed, and lines come as they are written', async (t) => {
  const lifeline = new PassThrough();
  const lines: string[] = [];
  const running = run(['cat'], {
    become: true,
    input: lifeline,
    onLine: (line) => {
      lines.push(line);
      if (line === 'één') lifeline.end('two\nthree');
    },
  });
  lifeline.write('één\n');
  t.equal((await running).stdout.toString(), 'één\ntwo\nthree');
  t.same(lines, ['één', 'two']);
});

t.test('the deadline ends the whole group on the host', async (t) => {
  const cases = [
    { why: 'a grandchild in the background', script: 'sleep $1 & sleep $1' },
    { why: 'a grandchild left behind', script: 'sleep $1 & exit 0' },
    { why: 'a grandchild that ignores SIGTERM', script: '(trap "" TERM; exec sleep $1) & sleep $1' },
    { why: 'all of them ignore SIGTERM', script: 'trap "" TERM; sleep $1 & sleep $1; sleep $1' },
  ];
  for (const become of [false, true]) {
    const name = (why: string) => `${why}${become ? ', through sudo' : ''}`;
    await Promise.all(
      cases.map(async ({ why, script }, at) => {
        const length = `8${at}${become ? 1 : 2}.5`;
        const { outcome } = await run(['/bin/sh', '-c', script, 'sh', length], { become, deadlineMs: 1000 });
        t.same(outcome, { kind: 'timed-out', afterMs: 1000 }, name(why));
        t.ok(await gone(length), `${name(why)}: gone`);
      }),
    );
  }
});

t.test('cancelling ends the group too', async (t) => {
  for (const become of [false, true]) {
    const length = `85${become ? 1 : 2}.5`;
    const signal = AbortSignal.timeout(500);
    const { outcome } = await run(['/bin/sh', '-c', 'sleep $1 & sleep $1', 'sh', length], { become, signal });
    t.same(outcome, { kind: 'cancelled' });
    t.ok(await gone(length));
  }
  t.same((await run(['true'], { signal: AbortSignal.abort() })).outcome, { kind: 'cancelled' }, 'before it began');
  const other = connect();
  const running = run(['sleep', '86.5'], {}, other);
  await sleep(500);
  await other.close();
  await other.close();
  t.same((await running).outcome, { kind: 'cancelled' }, 'by close');
  t.ok(await gone('86.5'));
});

t.test('root is refused, and nothing else is called so', async (t) => {
  const target = connect({ user: PASSWORD });
  t.match((await run(['false'], { become: true }, target)).outcome, { kind: 'become-refused', detail: /password/ });
  t.same((await run(['false'], {}, target)).outcome, { kind: 'exited', status: 1 });
  t.same((await run(['false'], { become: true })).outcome, { kind: 'exited', status: 1 });
  const none = connect({ become: 'none' });
  t.match((await run(['true'], { become: true }, none)).outcome, { kind: 'become-refused', detail: /become: none/ });
  const nologin = connect({ user: NOLOGIN });
  t.match((await run(['true'], {}, nologin)).outcome, { kind: 'cannot-spawn', detail: /login shell.*not available/ });
});

t.test('what stands between', async (t) => {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const known = readFileSync(lab.knownHosts, 'utf8');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'stranger')]);
  const stranger = readFileSync(join(folder, 'stranger.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  const offered = execFileSync(
    'ssh-keygen',
    ['-l', '-f', file('offered', await onTheHost('cat /etc/ssh/ssh_host_ed25519_key.pub'))],
    { encoding: 'utf8' },
  );
  const fingerprint = new RegExp((offered.split(' ')[1] ?? '').replace(/[+/]/g, '.'));
  const unused = `${host.address.replace(/\.\d+$/, '')}.249`;
  const revoked = `@revoked * ${(await onTheHost('cat /etc/ssh/ssh_host_ed25519_key.pub')).trim()}\n`;
  const cases: { why: string; entry: Partial<SshHostEntry>; outcome: object }[] = [
    {
      why: 'an unknown key',
      entry: { knownHosts: file('none', '') },
      outcome: {
        kind: 'host-key-unknown',
        offered: fingerprint,
        fix: new RegExp(`ssh-keyscan -p 22 ${host.address} >> ${folder}/none`),
      },
    },
    {
      why: 'a known_hosts file that cannot be read',
      entry: { knownHosts: folder },
      outcome: { kind: 'host-key-unknown', fix: /cannot be read/ },
    },
    {
      why: 'a changed key',
      entry: { knownHosts: file('changed', `${host.address} ${stranger}\n`) },
      outcome: { kind: 'host-key-changed', offered: fingerprint, expected: [/^SHA256:/], fix: /ssh-keygen -R/ },
    },
    {
      why: 'a revoked key',
      entry: { knownHosts: file('revoked', known + revoked) },
      outcome: { kind: 'host-key-revoked' },
    },
    {
      why: 'a wrong port',
      entry: { port: 2, knownHosts: lab.knownHosts },
      outcome: { kind: 'refused', detail: /port 2/ },
    },
    { why: 'nobody has the address', entry: { address: unused }, outcome: { kind: 'unreachable' } },
    {
      why: 'nobody has the name',
      entry: { address: 'nonesuch.invalid' },
      outcome: { kind: 'unreachable', fix: /address/ },
    },
    {
      why: 'a key that the host does not accept',
      entry: { identity: join(folder, 'stranger') },
      outcome: { kind: 'authentication-failed', fix: /ssh-copy-id/ },
    },
    {
      why: 'no key at all',
      entry: { identity: join(folder, 'missing') },
      outcome: { kind: 'authentication-failed', detail: /missing cannot be read/ },
    },
  ];
  for (const { why, entry, outcome } of cases) {
    const result = await run(['true'], {}, connect(entry));
    t.match(result.outcome, outcome, why);
    t.equal(result.stdout.length, 0);
  }
});

t.test('an sshd with other keys and little room', async (t) => {
  await onTheHost(`set -e
    mkdir -p /run/sshd
    for type in ed25519 ecdsa; do ssh-keygen -q -t $type -N '' -f /root/tgt-$type; done
    /usr/sbin/sshd -f /dev/null -p 2222 -o HostKey=/root/tgt-ed25519 -o HostKey=/root/tgt-ecdsa \
      -o MaxSessions=3 -o UsePAM=yes -o PidFile=/root/tgt-pid`);
  t.teardown(() => onTheHost('kill "$(cat /root/tgt-pid)"'));
  const knownHosts = join(folder, 'ecdsa');
  writeFileSync(knownHosts, `[${host.address}]:2222 ${await onTheHost('cat /root/tgt-ecdsa.pub')}`);
  const target = connect({ port: 2222, knownHosts });
  t.ok(succeeded(await run(['true'], {}, target)), 'a key of the type that is known is asked for');
  const ten = await Promise.all(Array.from({ length: 10 }, () => run(['sleep', '0.1'], {}, target)));
  t.same(
    ten.filter((result) => !succeeded(result)),
    [],
    'where there is no room, a run waits for it',
  );
});

t.test('a connection that is cut in the middle is lost, not an end without status', async (t) => {
  const target = connect();
  const [cut, server] = await withServer(target, '89.5', { deadlineMs: 4000 });
  const other = run(['sleep', '87.5'], {}, target);
  await onTheHost('kill -KILL "$1"', server);
  const { outcome, stdout } = await cut;
  t.match(outcome, { kind: 'lost-connection', detail: /./ });
  t.equal(stdout.toString(), `${server}\n`, 'what came before is kept');
  t.equal((await other).outcome.kind, 'lost-connection', 'and so is all else that ran on it');
  t.ok(succeeded(await run(['true'], {}, target)), 'the next run connects anew');
  t.ok(await gone('89.5', 10), 'the host ends the program at its deadline');
});

t.test('a frozen host keeps nobody waiting', async (t) => {
  const target = connect();
  const [frozen, server] = await withServer(target, '88.5', { deadlineMs: 2500 });
  await onTheHost('kill -STOP "$1"', server);
  t.teardown(() => onTheHost('kill -KILL "$1" 2>/dev/null; true', server));
  const queued = run(['true'], { deadlineMs: 1500 }, target);
  t.same((await frozen).outcome, { kind: 'timed-out', afterMs: 2500 });
  t.match((await queued).outcome.kind, /timed-out|lost-connection/);
  t.ok(succeeded(await run(['true'], {}, target)), 'the next run connects anew');
  t.ok(await gone('88.5', 10), 'the host ends the program by itself');
});

t.test('many at once', async (t) => {
  const target = connect();
  const twenty = await Promise.all(Array.from({ length: 20 }, (_, at) => run(['echo', String(at)], {}, target)));
  t.same(
    twenty.map(({ stdout }) => stdout.toString()),
    Array.from({ length: 20 }, (_, at) => `${at}\n`),
    '20 runs on one connection',
  );
  const targets = Array.from({ length: 40 }, () => connect());
  const forty = await Promise.all(targets.map((each) => run(['true'], {}, each)));
  t.same(
    forty.filter((result) => !succeeded(result)).map(({ outcome }) => outcome),
    [],
    '40 connections',
  );
  await Promise.all(targets.map((each) => each.close()));
});

t.test('through a bastion', async (t) => {
  const jump = `${NOISY}@${host.address}:22`;
  const target = connect({ jump, address: 'localhost', knownHosts: join(folder, 'jump') });
  const known = readFileSync(lab.knownHosts, 'utf8');
  writeFileSync(join(folder, 'jump'), known);
  t.match(
    (await run(['true'], {}, target)).outcome,
    { kind: 'host-key-unknown', fix: /ssh -J/ },
    'the far key is checked too',
  );
  const key = (await onTheHost('cat /etc/ssh/ssh_host_ed25519_key.pub')).trim();
  writeFileSync(join(folder, 'jump'), `${known}\nlocalhost ${key}\n`);
  const over = await sh('echo $SSH_CONNECTION', {}, target);
  t.match(over.stdout.toString(), /^(127\.0\.0\.1|::1) /, 'the host sees the bastion');
  const closed = connect({ jump, address: 'localhost', port: 2, knownHosts: join(folder, 'jump') });
  t.match((await run(['true'], {}, closed)).outcome, { kind: 'refused', detail: /bastion/ });
  const chain = connect({ jump: `${jump},${NOISY}@localhost`, address: '127.0.0.1', knownHosts: join(folder, 'jump') });
  writeFileSync(join(folder, 'jump'), `${known}\nlocalhost,127.0.0.1 ${key}\n`);
  t.ok(succeeded(await run(['true'], {}, chain)), 'a chain of two');
  const wrong = connect({ jump: `${NOISY}@${host.address}:2`, address: 'localhost' });
  t.match(
    (await run(['true'], {}, wrong)).outcome,
    { kind: 'refused', detail: /port 2/ },
    'a bastion that is not there',
  );
});

t.test('an upload is whole or absent', async (t) => {
  const place = "/root/tgt-odd 'name";
  const put = (content: Buffer, target = shared, path = place) =>
    target.upload({ path, content, mode: 0o640, become: true, deadlineMs: 30_000 });
  const sum = () => onTheHost('sha256sum <"$1"; stat -c "%a %u" "$1"; ls -A /root | grep -c watertight || true', place);
  t.ok(succeeded(await put(Buffer.from('before'))));
  const before = await sum();
  t.match(before, /\n640 0\n0\n$/, 'mode, owner, and nothing beside it');
  t.notOk(succeeded(await put(Buffer.from('x'), shared, '/root')), 'a folder is not replaced');
  t.notOk(succeeded(await put(Buffer.from('x'), shared, '/root/tgt-none/x')), 'a missing folder is not made');

  const target = connect();
  const [, server] = await withServer(target, '90.5');
  const cut = put(Buffer.alloc(64 * 1024 * 1024, 'x'), target);
  for (let tries = 0; tries < 500; tries += 1) {
    if ((await onTheHost('ls -A /root | grep -c watertight || true')).trim() !== '0') break;
  }
  await onTheHost('kill -KILL "$1"', server);
  t.equal((await cut).outcome.kind, 'lost-connection');
  for (let tries = 0; tries < 25 && (await sum()) !== before; tries += 1) await sleep(200);
  t.equal(await sum(), before, 'cut off in the middle: the old file stands, no part of the new one is left');
  const content = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, at) => (at * 13) % 256));
  t.ok(succeeded(await put(content)));
  t.ok((await run(['cat', place], { become: true })).stdout.equals(content));
});
