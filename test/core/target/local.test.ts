import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { localTarget } from '../../../core/target/local.js';
import { type ExecRequest, succeeded } from '../../../core/target/target.js';

const target = localTarget();
t.teardown(() => target.close());

const run = (command: ExecRequest['command'], more: Partial<ExecRequest> = {}) =>
  target.exec({ command, deadlineMs: 20_000, ...more });
const sh = (script: string, more: Partial<ExecRequest> = {}) => run(['/bin/sh', '-c', script], more);

/** True while a process of that number is there and not merely unburied. */
function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<boolean> {
  for (let tries = 0; alive(pid) && tries < 250; tries += 1) await sleep(20);
  return !alive(pid);
}

t.test('each end of a program is told from the others', async (t) => {
  const cases: { why: string; script: string; more?: Partial<ExecRequest>; outcome: object }[] = [
    { why: 'status 0', script: 'exit 0', outcome: { kind: 'exited', status: 0 } },
    { why: 'status 3', script: 'exit 3', outcome: { kind: 'exited', status: 3 } },
    { why: 'stderr is no failure', script: 'echo x >&2', outcome: { kind: 'exited', status: 0 } },
    { why: 'a status that looks like a signal', script: 'exit 137', outcome: { kind: 'exited', status: 137 } },
    { why: 'a signal', script: 'kill -KILL $$', outcome: { kind: 'signalled', signal: 'SIGKILL' } },
    { why: 'a deadline', script: 'sleep 60', more: { deadlineMs: 100 }, outcome: { kind: 'timed-out', afterMs: 100 } },
    {
      why: 'too much output',
      script: 'yes',
      more: { maxBytes: 1000 },
      outcome: { kind: 'output-limit', limitBytes: 1000 },
    },
    {
      why: 'too much on stderr',
      script: 'yes >&2',
      more: { maxBytes: 1000 },
      outcome: { kind: 'output-limit', limitBytes: 1000 },
    },
    {
      why: 'cancelled before it began',
      script: ':',
      more: { signal: AbortSignal.abort() },
      outcome: { kind: 'cancelled' },
    },
    {
      why: 'cancelled',
      script: 'sleep 60',
      more: { signal: AbortSignal.timeout(100) },
      outcome: { kind: 'cancelled' },
    },
  ];
  for (const { why, script, more, outcome } of cases) t.same((await sh(script, more)).outcome, outcome, why);
  const limited = await sh('yes', { maxBytes: 1000 });
  t.equal(limited.stdout.length, 1000, 'what the limit allows is kept');
});

t.test('what cannot be started', async (t) => {
  const folder = mkdtempSync('/tmp/watertight-test-');
  t.teardown(() => run(['rm', '-rf', folder]));
  writeFileSync(join(folder, 'plain'), 'x');
  t.match((await run(['nonesuch-program'])).outcome, { kind: 'cannot-spawn', detail: /ENOENT/ });
  t.match((await run([join(folder, 'plain')])).outcome, { kind: 'cannot-spawn', detail: /EACCES/ });
  t.match((await run(['a\0b'])).outcome, { kind: 'cannot-spawn', detail: /NUL/ });
});

t.test('arguments, variables and input reach the program byte for byte', async (t) => {
  const odd = ['', "it's", '$(id)', 'a\nb', 'é😀', '-n'];
  const echoed = await run(['printf', '%s\\n', ...odd]);
  t.equal(echoed.stdout.toString(), odd.map((arg) => `${arg}\n`).join(''));
  const variable = await sh('printf %s "$A"', { environment: { A: "x 'y\n" } });
  t.equal(variable.stdout.toString(), "x 'y\n");
  const bytes = Buffer.from(Array.from({ length: 4 * 1024 * 1024 }, (_, at) => (at * 7) % 256));
  t.ok((await run(['cat'], { input: bytes })).stdout.equals(bytes), '4 MiB that are not UTF-8');
  t.ok((await run(['cat'], { input: Readable.from([bytes]) })).stdout.equals(bytes), 'from a stream');
  t.equal((await run(['cat'])).stdout.length, 0, 'no input is an empty one');
  t.ok(succeeded(await run(['true'], { input: bytes })), 'input that nobody reads is no error');
});

t.test('a stream that stays open keeps the program alive, and is let go', async (t) => {
  const lifeline = new PassThrough();
  const lines: string[] = [];
  const running = run(['cat'], {
    input: lifeline,
    onLine: (line) => {
      lines.push(line);
      if (line === 'one') lifeline.write('two\nthr');
      if (line === 'two') lifeline.end('ee');
    },
  });
  lifeline.write('one\n');
  t.equal((await running).stdout.toString(), 'one\ntwo\nthree');
  t.same(lines, ['one', 'two'], 'a line without its end is none');
  const broken = new PassThrough();
  const cut = run(['cat'], { input: broken });
  broken.destroy(new Error('disk'));
  t.same((await cut).outcome, { kind: 'cancelled' }, 'an input that breaks is not one that ends');
});

t.test('the deadline ends the whole group', async (t) => {
  const cases = [
    { why: 'a grandchild that holds the pipe', script: 'sleep 61 & echo $!; sleep 62' },
    { why: 'a grandchild left behind by its parent', script: 'sleep 61 & echo $!' },
    { why: 'one that ignores SIGTERM', script: '(trap "" TERM; sleep 61) & echo $!; sleep 62' },
    { why: 'all of them ignore SIGTERM', script: 'trap "" TERM; sleep 61 & echo $!; wait; sleep 62' },
  ];
  for (const { why, script } of cases) {
    const { outcome, stdout } = await sh(script, { deadlineMs: 300 });
    t.same(outcome, { kind: 'timed-out', afterMs: 300 }, why);
    t.ok(await gone(Number(stdout.toString())), `${why} is gone`);
  }
});

t.test('a process that left the group does not keep the caller waiting', async (t) => {
  const { outcome, stdout } = await sh('setsid sleep 61 & echo $!; sleep 62', { deadlineMs: 300 });
  t.teardown(() => process.kill(Number(stdout.toString())));
  t.equal(outcome.kind, 'timed-out');
  t.ok(alive(Number(stdout.toString())), 'it still holds the pipe');
});

t.test('becoming root goes through the stages that a remote run goes through', async (t) => {
  const real = process.geteuid;
  if (real?.() !== 0) {
    t.comment('not root: sudo would be asked, and may refuse');
    const refused = await run(['false'], { become: true });
    t.ok(['become-refused', 'exited'].includes(refused.outcome.kind));
    return;
  }
  // Root itself needs no sudo, and the stages see that; only this process is made to believe otherwise.
  process.geteuid = () => 1000;
  t.teardown(() => {
    process.geteuid = real;
  });
  t.same((await sh('echo x; exit 1', { become: true })).outcome, { kind: 'exited', status: 1 });
  t.equal((await sh('printf %s "$A"', { become: true, environment: { A: 'b c' } })).stdout.toString(), 'b c');
  t.match((await run(['nonesuch-program'], { become: true })).outcome, { detail: /is not on the target/ });
  const late = await sh('(trap "" TERM; exec sleep 61) & echo $!; sleep 62', { become: true, deadlineMs: 500 });
  t.same(late.outcome, { kind: 'timed-out', afterMs: 500 });
  t.ok(await gone(Number(late.stdout.toString())));
});

t.test('close ends what still runs', async (t) => {
  const other = localTarget('other');
  const running = other.exec({ command: ['sleep', '60'], deadlineMs: 60_000 });
  await other.close();
  await other.close();
  t.same((await running).outcome, { kind: 'cancelled' });
});

t.test('upload', async (t) => {
  const folder = mkdtempSync('/tmp/watertight-test-');
  t.teardown(() => run(['rm', '-rf', folder]));
  const place = join(folder, "odd 'name");
  const put = (path: string, content: Buffer) => target.upload({ path, content, mode: 0o640, deadlineMs: 20_000 });
  t.test('the file is there, with its mode, and nothing beside it', async (t) => {
    const content = Buffer.from([0, 255, 10, 13]);
    t.ok(succeeded(await put(place, Buffer.from('before'))));
    t.ok(succeeded(await put(place, content)), 'over one that was there');
    t.ok(readFileSync(place).equals(content));
    t.equal(statSync(place).mode & 0o7777, 0o640);
    t.same(readdirSync(folder), ["odd 'name"]);
    t.ok(succeeded(await put(place, Buffer.alloc(0))), 'an empty one');
  });
  t.test('where it cannot be, nothing is left', async (t) => {
    t.notOk(succeeded(await put(join(folder, 'missing/file'), Buffer.from('x'))), 'no such folder');
    t.notOk(succeeded(await put(folder, Buffer.from('x'))), 'a folder is not replaced');
    t.same(readdirSync(folder), ["odd 'name"]);
  });
});
