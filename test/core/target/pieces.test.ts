import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Collector } from '../../../core/target/collector.js';
import { connectFailure, worthRetrying } from '../../../core/target/connect-failure.js';
import { couldNotTell, describeOutcome, fixOf } from '../../../core/target/describe.js';
import { Markers } from '../../../core/target/markers.js';
import { quote } from '../../../core/target/quote.js';
import { requestProblem } from '../../../core/target/request.js';
import { Slots } from '../../../core/target/slots.js';
import { sshTarget } from '../../../core/target/ssh.js';
import { loadIdentities } from '../../../core/target/ssh-identities.js';
import { resolveSshSettings } from '../../../core/target/ssh-settings.js';
import type { ExecOutcome, ExecRequest } from '../../../core/target/target.js';

/** What a shell makes of the quoted list: every argument, each ended by a NUL. */
function throughShell(args: readonly string[]): string {
  return execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${quote(args)}`], { encoding: 'utf8' });
}

const argument = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...`'"\\$\`!*?~ \n\t;&|<>(){}[]#=%-a\u00e9`) }),
  )
  .filter((text) => !text.includes('\0'));

t.test('quote', (t) => {
  t.test('a real shell hands every argument over byte for byte', async (t) => {
    const lists = fc.array(argument, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lists, (args) => throughShell(args) === args.map((arg) => `${arg}\0`).join('')),
      { numRuns: 200 },
    );
    t.equal(throughShell(['', "it's", '$(id)', '-n', 'a b']), "\0it's\0$(id)\0-n\0a b\0");
  });
  t.test('what no process can be given is refused', async (t) => {
    t.throws(() => quote(['a\0b']), RangeError, 'NUL ends an argument');
    t.throws(() => quote(['\ud800']), RangeError, 'half a surrogate pair would arrive as U+FFFD');
  });
  t.end();
});

t.test('a request that cannot be passed on is told before anything runs', async (t) => {
  const cases: { why: string; request: Partial<ExecRequest>; says: RegExp | null }[] = [
    { why: 'a plain one', request: {}, says: null },
    { why: 'no program', request: { command: [''] }, says: /no name/ },
    { why: 'an option of exec', request: { command: ['-a'] }, says: /cannot be called/ },
    { why: 'a NUL in an argument', request: { command: ['a', 'b\0'] }, says: /NUL/ },
    { why: 'a NUL in a variable', request: { environment: { A: '\0' } }, says: /NUL/ },
    {
      why: 'a variable that ends the list of variables',
      request: { environment: { '--': 'x' } },
      says: /not the name/,
    },
    { why: 'a variable with a blank', request: { environment: { 'A B': 'x' } }, says: /not the name/ },
    { why: 'no deadline', request: { deadlineMs: 0 }, says: /none/ },
    { why: 'a deadline that never comes', request: { deadlineMs: Number.POSITIVE_INFINITY }, says: /none/ },
    { why: 'a deadline that is not a number', request: { deadlineMs: Number.NaN }, says: /none/ },
  ];
  for (const { why, request, says } of cases) {
    const problem = requestProblem({ command: ['true'], deadlineMs: 1, ...request });
    if (says === null) t.equal(problem, null, why);
    else t.match(problem, says, why);
  }
});

t.test('Collector', (t) => {
  t.test('lines are whole, wherever the chunks end', async (t) => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '漢', '😀', '\r') });
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 10 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const lines: string[] = [];
        const collector = new Collector(
          1e6,
          () => t.fail('over'),
          (line) => lines.push(line),
        );
        const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        let from = 0;
        for (const place of places) {
          collector.push(bytes.subarray(from, place));
          from = place;
        }
        t.same(lines, whole.split('\n').slice(0, -1));
        return collector.bytes().equals(bytes);
      }),
    );
  });
  t.test('the limit keeps exactly its bytes, and the byte after it is told', async (t) => {
    let over = 0;
    const collector = new Collector(4, () => {
      over += 1;
    });
    collector.push(Buffer.from('ab'));
    collector.push(Buffer.from('cd'));
    t.equal(over, 0, 'as many as allowed');
    collector.push(Buffer.from('ef'));
    t.equal(over, 1);
    t.equal(collector.bytes().toString(), 'abcd');
  });
  t.end();
});

t.test('Markers', (t) => {
  const request: ExecRequest = { command: ['nft'], deadlineMs: 1000, become: true };
  const status = (code: number): ExecOutcome => ({ kind: 'exited', status: code });
  const cases: {
    why: string;
    stderr: string[];
    ended: ExecOutcome;
    elapsedMs?: number;
    kind: string;
    left?: string;
  }[] = [
    {
      why: 'status 1 of the program',
      stderr: ['N:login:1\nN:begin:2\noops'],
      ended: status(1),
      kind: 'exited',
      left: 'oops',
    },
    {
      why: 'status 1 of sudo',
      stderr: ['N:login:1\nsudo: a password is required\n'],
      ended: status(1),
      kind: 'become-refused',
    },
    { why: 'a login shell that runs nothing', stderr: ['not available\n'], ended: status(1), kind: 'cannot-spawn' },
    { why: 'sudo let it in too late', stderr: ['N:login:1\nN:late\n'], ended: status(124), kind: 'timed-out' },
    {
      why: 'exec failed',
      stderr: ['N:login:1\nN:begin:2\nN:cannot-spawn\n'],
      ended: status(127),
      kind: 'cannot-spawn',
    },
    { why: 'status 127 of the program', stderr: ['N:login:1\nN:begin:2\n'], ended: status(127), kind: 'exited' },
    { why: 'status 124 of the program', stderr: ['N:login:1\nN:begin:2\n'], ended: status(124), kind: 'exited' },
    {
      why: 'status 124 of timeout',
      stderr: ['N:login:1\nN:begin:2\n'],
      ended: status(124),
      elapsedMs: 3000,
      kind: 'timed-out',
    },
    {
      why: 'markers in pieces',
      stderr: ['N:lo', 'gin:1\nx', 'N:begin', ':77\nre', 'st'],
      ended: status(0),
      kind: 'exited',
      left: 'rest',
    },
    {
      why: 'a lost connection stays one',
      stderr: ['N:login:1\n'],
      ended: { kind: 'lost-connection', detail: '' },
      kind: 'lost-connection',
    },
  ];
  for (const { why, stderr, ended, elapsedMs = 1, kind, left = '' } of cases) {
    const markers = new Markers('N');
    const seen = Buffer.concat(stderr.map((chunk) => markers.stderr(Buffer.from(chunk))));
    const { outcome, stderr: rest } = markers.interpret(request, ended, seen, elapsedMs);
    t.equal(outcome.kind, kind, why);
    t.equal(rest.toString(), left, why);
  }
  const markers = new Markers('N');
  t.equal(markers.stdout(Buffer.from('noise from .bashrc\nN:be')).length, 0, 'noise is held back');
  t.equal(markers.stdout(Buffer.from('gin\nN:begin\nhello')).toString(), 'N:begin\nhello', 'only the first one counts');
  t.end();
});

t.test('Slots let so many in, in order, and forget who left', async (t) => {
  const slots = new Slots(1);
  const patient = new AbortController();
  const impatient = new AbortController();
  const first = await slots.acquire(patient.signal);
  const second = slots.acquire(impatient.signal);
  const third = slots.acquire(patient.signal);
  impatient.abort();
  t.equal(await second, null);
  first?.();
  first?.();
  t.type(await third, 'function');
  const fourth = slots.acquire(patient.signal);
  t.equal(await Promise.race([fourth, Promise.resolve('full')]), 'full', 'giving back twice frees one');
});

t.test('outcomes in words', async (t) => {
  const all: ExecOutcome[] = [
    { kind: 'exited', status: 3 },
    { kind: 'signalled', signal: 'SIGKILL' },
    { kind: 'timed-out', afterMs: 1500 },
    { kind: 'output-limit', limitBytes: 10 },
    { kind: 'cancelled' },
    { kind: 'cannot-spawn', detail: 'd' },
    { kind: 'become-refused', detail: 'd' },
    { kind: 'unreachable', detail: 'd', fix: 'f' },
    { kind: 'refused', detail: 'd', fix: 'f' },
    { kind: 'lost-connection', detail: 'd' },
    { kind: 'authentication-failed', detail: 'd', fix: 'f' },
    { kind: 'host-key-unknown', offered: 'o', fix: 'f' },
    { kind: 'host-key-changed', offered: 'o', expected: ['e1', 'e2'], fix: 'f' },
    { kind: 'host-key-revoked', offered: 'o', fix: 'f' },
  ];
  t.equal(new Set(all.map(describeOutcome)).size, all.length, 'no two read alike');
  t.same(
    all.filter((outcome) => !couldNotTell(outcome)).map(({ kind }) => kind),
    ['exited'],
  );
  t.match(describeOutcome({ kind: 'host-key-changed', offered: 'o', expected: ['e1'], fix: '' }), /o.*e1/);
  t.equal(describeOutcome({ kind: 'cannot-spawn', detail: '\u001b[2J' }).includes('\u001b'), false, 'no control codes');
  const fixes: readonly { why: string; outcome: ExecOutcome; fix: RegExp }[] = [
    { why: 'a password', outcome: { kind: 'become-refused', detail: 'a password is required' }, fix: /NOPASSWD/ },
    { why: 'no sudo', outcome: { kind: 'become-refused', detail: 'exec: sudo: not found' }, fix: /^install sudo/ },
    { why: 'a connection that broke', outcome: { kind: 'lost-connection', detail: 'd' }, fix: /still up.*again/ },
  ];
  for (const { why, outcome, fix } of fixes) t.match(fixOf(outcome), fix, why);
  const none = sshTarget(
    resolveSshSettings({ name: 'h', address: '192.0.2.1', user: 'u', become: 'none' }, { configFiles: [] }),
  );
  const { outcome } = await none.exec({ command: ['id'], deadlineMs: 1000, become: true });
  await none.close();
  t.match(fixOf(outcome), /become: sudo or user: root for h/, 'what the inventory forbids, the inventory allows');
});

t.test('a key that could not be offered is what is to be mended', async (t) => {
  const folder = t.testdir({ locked: '', public: '', open: '' });
  const path = (name: string) => join(folder, name);
  rmSync(path('locked'));
  rmSync(path('open'));
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', path('locked')]);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path('open')]);
  const options = { configFiles: [], environment: {} };
  const refused = Object.assign(new Error('All configured'), { level: 'client-authentication' });
  const cases: readonly { why: string; identity: string; says: RegExp; fix: RegExp }[] = [
    { why: 'none there', identity: path('none'), says: /none cannot be read: ENOENT/, fix: /identity/ },
    { why: 'no file', identity: folder, says: /cannot be read: EISDIR/, fix: /identity/ },
    { why: 'a passphrase', identity: path('locked'), says: /locked cannot be used/, fix: /ssh-add .*locked/ },
    { why: 'its public half', identity: path('open.pub'), says: /holds no private key/, fix: /identity/ },
    { why: 'one that the host refuses', identity: path('open'), says: /All configured$/, fix: /ssh-copy-id -p 22 u@/ },
  ];
  for (const { why, identity, says, fix } of cases) {
    const settings = resolveSshSettings({ name: 'h', address: '192.0.2.1', user: 'u', identity }, options);
    const { problems } = await loadIdentities(settings);
    t.match(connectFailure(refused, settings, problems), { kind: 'authentication-failed', detail: says, fix }, why);
  }
  chmodSync(path('open'), 0);
  const settings = resolveSshSettings({ name: 'h', address: '192.0.2.1', user: 'u', identity: path('open') }, options);
  // Root may read whatever it likes.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  const { problems } = await loadIdentities(settings).finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  const expected = {
    detail: /open cannot be read: EACCES/,
    fix: /^run this as the user who may read it \(ls -l .*open\)/,
  };
  t.match(connectFailure(refused, settings, problems), expected, 'a file of another user');
});

t.test('errors of a connection in the terms of a target', async (t) => {
  const settings = resolveSshSettings({ name: 'h', address: '192.0.2.1', user: 'u' }, { configFiles: [] });
  const error = (message: string, facts: object = {}) => Object.assign(new Error(message), facts);
  const cases: { why: string; error: unknown; kind: string; retry: boolean }[] = [
    {
      why: 'nobody listens',
      error: error('connect ECONNREFUSED', { code: 'ECONNREFUSED' }),
      kind: 'refused',
      retry: false,
    },
    {
      why: 'no route',
      error: error('connect EHOSTUNREACH', { code: 'EHOSTUNREACH' }),
      kind: 'unreachable',
      retry: false,
    },
    { why: 'no such name', error: error('getaddrinfo', { code: 'ENOTFOUND' }), kind: 'unreachable', retry: false },
    {
      why: 'several addresses',
      error: new AggregateError([error('c', { code: 'ECONNREFUSED' })]),
      kind: 'refused',
      retry: false,
    },
    { why: 'a silent host', error: error('Timed out', { level: 'client-timeout' }), kind: 'unreachable', retry: false },
    {
      why: 'no key fits',
      error: error('All configured', { level: 'client-authentication' }),
      kind: 'authentication-failed',
      retry: false,
    },
    {
      why: 'sshd says so',
      error: error('Too many authentication failures', { code: 2 }),
      kind: 'authentication-failed',
      retry: false,
    },
    {
      why: 'MaxStartups',
      error: error('Connection lost before handshake', { level: 'protocol' }),
      kind: 'unreachable',
      retry: true,
    },
    {
      why: 'MaxStartups, by a reset',
      error: error('read', { code: 'ECONNRESET', level: 'client-socket' }),
      kind: 'unreachable',
      retry: true,
    },
    {
      why: 'closed, as node-ssh calls it',
      error: error('No response from server', { code: 'ETIMEDOUT' }),
      kind: 'unreachable',
      retry: true,
    },
    {
      why: 'no common algorithm',
      error: error('no matching', { level: 'handshake' }),
      kind: 'unreachable',
      retry: false,
    },
  ];
  for (const { why, error, kind, retry } of cases) {
    t.equal(connectFailure(error, settings, []).kind, kind, why);
    t.equal(worthRetrying(error, false), retry, why);
    t.equal(worthRetrying(error, true), false, `${why}, after the handshake`);
  }
});
