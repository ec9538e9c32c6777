import t from 'tap';
import { verifyRemote } from '../../checks/verify-remote.js';
import type { VerifyEvent } from '../../core/events.js';
import { addEvent, emptyRecord, exitOfRun } from '../../core/report/record.js';
import type { ExecOutcome, ExecRequest, Target } from '../../core/target/target.js';
import { version } from '../../core/version.js';

const DIGEST = 'a'.repeat(64);
const exited = (status: number): ExecOutcome => ({ kind: 'exited', status });

/** What a provisioned host answers to each question of the probe. */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, readonly [number, string] | 'no-tool' | 'no-file'>>>> = {
  os: { release: [0, 'ID=debian\nVERSION_CODENAME=bookworm'] },
  kernel: { release: [0, '6.1.0'] },
  cgroup2: { type: [0, 'cgroup2fs'] },
  systemd: { version: [0, 'systemd 252 (x)'], booted: [0, 'directory'], state: [0, 'running'] },
  sudo: { uid: [0, '0'] },
  nftables: { version: [0, 'nftables v1.0.6 (x)'] },
  'nft-cgroup': { version: [0, 'nftables v1.0.6 (x)'], control: [0, ''], rule: [0, ''] },
  node: { version: [0, 'v18.20.4'] },
  python3: { version: [0, 'Python 3.11.2'] },
  iproute2: { version: [0, 'ip utility, iproute2-6.1.0'] },
  bundle: { digest: [0, `${DIGEST}  x`], head: [0, `#!x\n// watertight ${version}`] },
  profile: { digest: [0, `${DIGEST}  x`] },
  units: { slice: [0, 'LoadState=loaded'], ruleset: [0, 'LoadState=loaded'] },
  ruleset: { version: [0, 'nftables v1.0.6 (x)'], tables: [0, 'table inet watertight'] },
};

function probeOutput(request: ExecRequest, over: typeof ANSWERS): string {
  const [, , nonce = '', ...ids] = request.command;
  const mark = (text: string) => `\n@${nonce}@ ${text}\n`;
  const lines = ids.map((id) => {
    const now = { epoch: [0, String(Math.floor(Date.now() / 1000))] as const };
    const outputs = Object.entries(over[id] ?? ANSWERS[id] ?? now).map(([key, output]) =>
      typeof output === 'string'
        ? mark(`${output} ${key}`)
        : `${mark(`output ${key}`)}${output[1]}${mark(`status ${key} ${output[0]}`)}`,
    );
    return mark(`answer ${id} ${Buffer.from(`${outputs.join('')}${mark(`answered ${id}`)}`).toString('base64')}`);
  });
  return `${lines.join('')}${mark(`done ${ids.length}`)}`;
}

interface Host {
  /** How the probe ends; absent: well. */
  readonly probe?: ExecOutcome;
  readonly answers?: typeof ANSWERS;
  readonly lines?: readonly string[];
  readonly end?: ExecOutcome;
  readonly stderr?: string;
}

/** A host made of answers. `verified` tells whether its own verify was started. */
function fakeHost(host: Host): { target: Target; verified: () => boolean } {
  let verified = false;
  const exec: Target['exec'] = async (request) => {
    const result = (outcome: ExecOutcome, stdout = '', stderr = '') =>
      ({ outcome, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), durationMs: 1 }) as const;
    if (request.command[0] === '/bin/sh')
      return result(host.probe ?? exited(0), host.probe ? '' : probeOutput(request, host.answers ?? {}));
    verified = true;
    for (const line of host.lines ?? []) request.onLine?.(line);
    return result(host.end ?? exited(0), '', host.stderr);
  };
  const upload = () => Promise.reject(new Error('verify uploads nothing'));
  return { target: { name: 'lab-01', exec, upload, close: async () => {} }, verified: () => verified };
}

const claim = (verdict: string, tenant = 'acme', evidence = {}) =>
  JSON.stringify({
    type: 'claim',
    id: 'udp4',
    tenant,
    claim: 'c',
    layer: 'cgroup',
    verdict,
    reason: 'r',
    evidence,
    hint: null,
  });
const PROFILE = 'c'.repeat(64);
const begin = (profileDigest?: string) =>
  JSON.stringify({
    type: 'started',
    schema: 'watertight/verify/1',
    host: 'x',
    tenants: [],
    at: '2026-11-30T12:00:00Z',
    version,
    ...(profileDigest === undefined ? {} : { profileDigest }),
  });
const begun = begin(PROFILE);
const ended = (exit: number) => JSON.stringify({ type: 'finished', exit, durationMs: 1 });
const good = [begun, claim('proven'), ended(0)];

const cases: readonly { why: string; host: Host; exit: number; started: boolean; says: RegExp; tenants?: string[] }[] =
  [
    {
      why: 'proven of another profile than the one of the configuration',
      host: { lines: [begin('d'.repeat(64)), claim('proven'), ended(0)] },
      exit: 1,
      started: true,
      says: /"id":"installed-profile".*"verdict":"disproved"/,
    },
    {
      why: 'proven of nobody knows which profile',
      host: { lines: [begin(), claim('proven'), ended(0)] },
      exit: 2,
      started: true,
      says: /"id":"installed-profile".*"verdict":"inconclusive"/,
    },
    { why: 'all proven', host: { lines: good }, exit: 0, started: true, says: /"verdict":"proven"/ },
    {
      why: 'something disproved',
      host: { lines: [begun, claim('disproved'), ended(1)], end: exited(1) },
      exit: 1,
      started: true,
      says: /disproved/,
    },
    {
      why: 'host down',
      host: { probe: { kind: 'unreachable', detail: 'no route', fix: 'ping it' } },
      exit: 2,
      started: false,
      says: /"kind":"unreachable","reason":"[^"]*no route","fix":"ping it"/,
    },
    {
      why: 'sudo that wants a password',
      host: { probe: { kind: 'become-refused', detail: 'a password is required' } },
      exit: 2,
      started: false,
      says: /"kind":"become-refused".*NOPASSWD/,
    },
    {
      why: 'a bare host',
      host: { answers: { bundle: { digest: 'no-file', head: 'no-file' } } },
      exit: 1,
      started: false,
      says: /watertight is not installed","fix":"watertight provision lab-01"/,
    },
    {
      why: 'a question without an answer',
      host: { answers: { nftables: { version: [124, ''] } } },
      exit: 2,
      started: false,
      says: /did not answer in time/,
    },
    {
      why: 'what a claim names by its effect does not keep it from being named',
      host: {
        answers: { ruleset: { version: [0, 'nftables v1.0.6 (x)'], tables: [0, ''] } },
        lines: [begun, claim('disproved'), ended(1)],
        end: exited(1),
      },
      exit: 1,
      started: true,
      says: /"id":"udp4"/,
    },
    {
      why: 'a changed program is disproved, and not asked',
      host: {
        answers: { bundle: { digest: [0, `${'b'.repeat(64)}  x`], head: [0, `#!x\n// watertight ${version}`] } },
      },
      exit: 1,
      started: false,
      says: /"id":"installed-program".*"verdict":"disproved"/,
    },
    {
      why: 'another version is absent, and no claim',
      host: { answers: { bundle: { digest: [0, `${'b'.repeat(64)}  x`], head: [0, '#!x\n// watertight 9.9.9'] } } },
      exit: 1,
      started: false,
      says: /another version/,
    },
    {
      why: 'cut in the middle',
      host: { lines: [begun, claim('proven')], end: { kind: 'lost-connection', detail: 'reset' } },
      exit: 2,
      started: true,
      says: /"kind":"lost-connection"/,
    },
    {
      why: 'out of time',
      host: { lines: [begun, claim('proven')], end: { kind: 'timed-out', afterMs: 1000 } },
      exit: 2,
      started: true,
      says: /"kind":"timed-out"/,
    },
    {
      why: 'ended before it finished',
      host: { lines: [begun, claim('proven')], end: exited(0), stderr: 'error: no profile\nfix: x\n' },
      exit: 2,
      started: true,
      says: /"kind":"cut-off".*error: no profile/,
    },
    {
      why: 'a line that is no event',
      host: { lines: [...good.slice(0, 2), 'Last login', ended(0)] },
      exit: 2,
      started: true,
      says: /no event: Last login/,
    },
    {
      why: 'more after the end',
      host: { lines: [...good, claim('proven')] },
      exit: 2,
      started: true,
      says: /no event/,
    },
    {
      why: 'a pass that ends with another status',
      host: { lines: good, end: exited(2) },
      exit: 2,
      started: true,
      says: /says exit 0 and ends with status 2/,
    },
    {
      why: 'claims all proven, and the host does not call it a pass',
      host: { lines: [begun, claim('proven'), ended(2)], end: exited(2) },
      exit: 2,
      started: true,
      says: /ended with 2/,
    },
    {
      why: 'a tenant that the host does not know',
      host: { lines: good },
      exit: 2,
      started: true,
      says: /"kind":"tenant-not-judged".*globex/,
      tenants: ['acme', 'globex'],
    },
    { why: 'no claim at all', host: { lines: [begun, ended(0)] }, exit: 2, started: true, says: /tenant-not-judged/ },
  ];

t.test('verifyRemote', async (t) => {
  for (const { why, host, exit, started, says, tenants } of cases) {
    const events: VerifyEvent[] = [];
    const { target, verified } = fakeHost(host);
    const options = { target, bundleDigest: DIGEST, profileDigest: PROFILE, deadlineMs: 1000 };
    await verifyRemote({ ...options, tenants: tenants ?? ['acme'] }, (event) => events.push(event));
    const record = emptyRecord();
    for (const event of events) addEvent(record, event);
    t.equal(exitOfRun(record), exit, why, { events });
    t.equal(verified(), started, `${why}: the host's own verify ${started ? 'ran' : 'was not started'}`);
    t.match(JSON.stringify(events), says, `${why}: says so`);
    t.equal(events[0]?.type, 'started', `${why}: begins`);
    t.equal(record.finished?.exit, exit, `${why}: ends with the exit code`);
    t.equal(
      events.filter(({ type }) => type === 'started' || type === 'finished').length,
      2,
      `${why}: and does so once`,
    );
  }
});
