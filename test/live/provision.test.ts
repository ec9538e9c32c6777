import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import t from 'tap';
import { parse, stringify } from 'yaml';
import type { Lab } from '../../lab/lab.js';
import { cableName } from '../../lab/names.js';
import type { ProvisionEvent } from '../../scripts/provision/events.js';
import { readEvent } from '../../scripts/provision/read-event.js';
import { onHost, ownLab } from '../fixtures/lab.js';

t.setTimeout(1_500_000);

// A copy, which a build meanwhile does not take away.
const folder = await mkdtemp(join(tmpdir(), 'watertight-provision-test-'));
t.teardown(() => rm(folder, { recursive: true }));
await chmod(folder, 0o755);
for (const name of ['watertight.mjs', 'watertight-host.mjs']) {
  await copyFile(fileURLToPath(new URL(`../../dist/${name}`, import.meta.url)), join(folder, name));
}
const PROGRAM = join(folder, 'watertight.mjs');
const FINGERPRINT = await readFile(new URL('../fixtures/host-fingerprint.sh', import.meta.url), 'utf8');
const WATCH = await readFile(new URL('../fixtures/open-watch.sh', import.meta.url), 'utf8');

const HOST = 'lab-01';
const lab: Lab = await ownLab();

function start(...args: readonly string[]) {
  return execa(process.execPath, [PROGRAM, ...args, '--config', lab.inventory], { reject: false, all: true });
}

const provision = (...flags: readonly string[]) => start('provision', HOST, ...flags);

/** Runs to its end and reads what it said. */
async function events(...args: readonly string[]) {
  const { stdout, stderr, exitCode } = await start(...args, '--format', 'ndjson');
  const said = stdout.split('\n').flatMap((line) => readEvent(line) ?? []);
  return { said, exitCode, stderr };
}

async function shell(script: string): Promise<string> {
  const { stdout, stderr, status } = await onHost(lab, HOST, ['/bin/sh', '-s'], { input: script });
  if (status !== 0) throw new Error(`status ${status}: ${stdout}${stderr}`);
  return stdout;
}

/** Why a run did not go well. */
function trouble(said: readonly ProvisionEvent[]): string {
  const claims = said.flatMap((event) =>
    event.type === 'claim' && event.verdict !== 'proven' ? [`${event.id} ${event.verdict}: ${event.reason}`] : [],
  );
  const failures = said.flatMap((event) => (event.type === 'failure' ? [event.reason] : []));
  return [...claims, ...failures].join('; ');
}

const fingerprint = () => shell(FINGERPRINT);

/** Lines that are in one and not in the other. */
function differing(before: string, after: string): readonly string[] {
  const [a, b] = [new Set(before.split('\n')), new Set(after.split('\n'))];
  return [
    ...[...a].filter((line) => !b.has(line)).map((line) => `- ${line}`),
    ...[...b].filter((line) => !a.has(line)).map((line) => `+ ${line}`),
  ];
}

/** What would change if provision ran now. */
async function wouldChange(): Promise<readonly string[]> {
  const { said } = await events('provision', HOST, '--dry-run');
  const plan = said.find((event) => event.type === 'plan');
  if (plan?.type !== 'plan') throw new Error(`no plan: ${JSON.stringify(said)}`);
  return plan.changes.map(({ id }) => id);
}

const bare = await fingerprint();

t.test('a dry run shows each file, package and unit, and changes nothing', async (t) => {
  const { exitCode, stdout } = await provision('--dry-run', '--diff');
  t.equal(exitCode, 0);
  for (const shown of [
    'install nftables',
    'create the system user wt-acme',
    '+IPAddressDeny=any',
    '+table inet watertight {',
    'watertight-proxy@acme.socket',
    '+opencode ALL=(root) NOPASSWD',
  ]) {
    t.match(stdout, shown, shown);
  }
  t.strictSame(differing(bare, await fingerprint()), []);
});

/** What systemd and /run hold of ours; nothing on a host that is not provisioned. */
const leftovers = () =>
  shell("systemctl list-units --all --no-legend --plain '*watertight*'; ls -d /run/watertight* 2>/dev/null || true");

t.test('a first run that is cut off leaves packages and nothing else', async (t) => {
  const exitCode = await cutOff({ why: 'Ctrl-C', when: (event) => event.type === 'claim', how: 'interrupt' });
  t.equal(exitCode, 130);
  await untilQuiet();
  t.equal(await leftovers(), '');
  t.strictSame((await shell('ls -A /var/lib/watertight')).trim(), 'packages');
  t.equal((await start('deprovision', HOST)).exitCode, 0);
  t.strictSame(differing(bare, await fingerprint()), []);
});

/** As another apt would: dpkg's front end holds a lock of fcntl(2) on this file. */
const HOLD_APT =
  'import fcntl,time; f=open("/var/lib/dpkg/lock-frontend","w"); fcntl.lockf(f,fcntl.LOCK_EX); print("held",flush=True); time.sleep(6)';

t.test('a bare host becomes contained, every claim proven', async (t) => {
  const announced = await wouldChange();
  const other = onHost(lab, HOST, ['python3', '-c', HOLD_APT]);
  const { said, exitCode, stderr } = await events('provision', HOST);
  await other;
  t.ok(
    said.some((event) => event.type === 'progress' && /^Waiting for cache lock/i.test(event.text)),
    "it waits for apt's lock",
  );
  t.equal(exitCode, 0, stderr);
  const plans = said.flatMap((event) => (event.type === 'plan' ? [event.changes.map(({ id }) => id)] : []));
  t.strictSame(plans, [announced], 'what is announced is what the dry run says');
  const made = said.filter((event) => event.type === 'step' && event.state === 'done');
  t.equal(made.length, announced.length, 'and as much is made');
  t.match(said.at(-1), { type: 'finished', changes: announced.length });
  const words = said.flatMap((event) => (event.type === 'progress' ? [event.text] : []));
  const packages = words.flatMap((text) => /^(?:Get|Unpacking|Setting up) (\S+)/.exec(text)?.[1] ?? []);
  t.ok(packages.length > 1 && new Set(packages).size === packages.length, 'one line a package');
  t.notOk(
    words.some((text) => text.startsWith('E: ')),
    'no error where all goes well in the end',
  );
  const claims = said.filter((event) => event.type === 'claim');
  t.ok(claims.length > 10, 'claims were judged');
  t.ok(
    claims.every((event) => event.type === 'claim' && event.verdict === 'proven'),
    'and all are proven',
  );
  const steps = said.flatMap((event) => (event.type === 'step' && event.state === 'done' ? [event.id] : []));
  t.equal(steps.at(-1), 'permission:/etc/sudoers.d/watertight-acme', 'permission is given last');
  t.notMatch(await shell('ls -A /var/lib/watertight'), /transaction|staged/, 'nothing of the transaction is left');
});

/** What a reload or a restart would change. */
const IDENTITY =
  "nft -j list tables | tr ',' '\\n' | grep handle; systemctl show -p InvocationID,ActiveEnterTimestampMonotonic watertight.slice watertight-acme.slice watertight-ruleset.service watertight-proxy@acme.socket; stat -c %Y%i /etc/watertight/* /etc/sudoers.d/watertight-acme /usr/lib/watertight/*";

t.test('a second run changes nothing, and restarts or reloads nothing', async (t) => {
  const before = await shell(IDENTITY);
  const { said, exitCode } = await events('provision', HOST);
  t.equal(exitCode, 0);
  t.match(said.at(-1), { type: 'finished', changes: 0, result: 'converged' });
  t.equal(await shell(IDENTITY), before);
});

const SABOTAGES: readonly { why: string; script: string; mended: readonly string[] }[] = [
  { why: 'somebody flushed every table', script: 'nft flush ruleset', mended: ['ruleset:watertight'] },
  {
    why: 'the slice has another cgroup',
    script: 'systemctl stop watertight-acme.slice; systemctl start watertight-acme.slice',
    mended: ['ruleset:watertight'],
  },
  {
    why: 'the slices are gone',
    script: 'systemctl stop watertight.slice',
    mended: ['unit:watertight.slice', 'unit:watertight-acme.slice', 'ruleset:watertight'],
  },
  {
    why: 'the proxy is stopped',
    script: 'systemctl stop watertight-proxy@acme.socket watertight-proxy@acme.service',
    mended: ['unit:watertight-proxy@acme.socket'],
  },
  {
    why: 'UDP is free',
    script:
      "nft -a list chain inet watertight acme_output | sed -n 's/.*acme_udp.*handle //p' | xargs nft delete rule inet watertight acme_output handle",
    mended: ['ruleset:watertight'],
  },
  {
    why: 'IPv6 is free',
    script:
      "sed 's/table inet watertight/table ip watertight/; s/icmpx/icmp/; s/, ipv6-icmp//' /etc/watertight/watertight.nft >/run/four.nft; nft delete table inet watertight; nft -f /run/four.nft; rm /run/four.nft",
    mended: ['ruleset:watertight'],
  },
  {
    why: 'the table is dormant',
    script: "nft add table inet watertight '{ flags dormant; }'",
    mended: ['ruleset:watertight'],
  },
  {
    why: 'no rule jumps to the tenant',
    script: 'nft flush chain inet watertight output',
    mended: ['ruleset:watertight'],
  },
  {
    why: 'the user is gone',
    script: 'userdel wt-acme',
    mended: ['user:wt-acme', 'ruleset:watertight'],
  },
  {
    why: 'many things were edited by hand',
    script: [
      "sed -i 's/example.com/example.org/' /etc/watertight/tenants/acme/policy.json",
      "sed -i '/IPAddressDeny/d' /etc/systemd/system/watertight-acme.slice && systemctl daemon-reload",
      'chmod 666 /etc/watertight/watertight.nft && chmod 777 /etc/watertight',
      'usermod -aG disk wt-acme',
      'systemctl disable watertight-proxy@acme.socket',
      'systemctl set-property --runtime watertight-acme.slice IPAddressAllow=any',
      'echo // >>/usr/lib/watertight/watertight.mjs',
      'echo "opencode ALL=(root) NOPASSWD: ALL" >>/etc/sudoers.d/watertight-acme',
    ].join(';'),
    mended: [
      'file:/etc/watertight/tenants/acme/policy.json',
      'file:/etc/systemd/system/watertight-acme.slice',
      'drop-in:/run/systemd/system.control/watertight-acme.slice.d/50-IPAddressAllow.conf',
      'file:/etc/watertight/watertight.nft',
      'directory:/etc/watertight',
      'user:wt-acme',
      'unit:watertight-proxy@acme.socket',
      'bundle:/usr/lib/watertight/watertight.mjs',
      'permission:/etc/sudoers.d/watertight-acme',
    ],
  },
];

t.test('each sabotage is seen, mended and proven', async (t) => {
  for (const { why, script, mended } of SABOTAGES) {
    await shell(script);
    const { said, exitCode } = await events('provision', HOST);
    t.equal(exitCode, 0, `${why}: ${trouble(said)}`);
    const done = said.flatMap((event) => (event.type === 'step' && event.state === 'done' ? [event.id] : []));
    for (const id of mended) t.ok(done.includes(id), `${why}: ${id}`);
    t.strictSame(await wouldChange(), [], `${why}: nothing is left to mend`);
  }
});

t.test('a run whose proof fails gives the host back as it was', async (t) => {
  // A foreign table that swallows what the proxy sends to its sinks: nothing that provision looks after is wrong.
  const foreign =
    'nft add table inet foreign; nft add chain inet foreign out "{ type filter hook output priority 0; }"; nft add rule inet foreign out ip daddr 127.63.0.1 drop';
  await shell(`${foreign}; echo >>/etc/watertight/profile.json`);
  const before = await fingerprint();
  const { said, exitCode } = await events('provision', HOST);
  t.not(exitCode, 0);
  t.match(said.at(-1), { type: 'finished', result: 'rolled-back' });
  t.strictSame(
    differing(before, await fingerprint()).filter((line) => !/counter|packets/.test(line)),
    [],
  );
  await shell('nft delete table inet foreign');
  t.equal((await events('provision', HOST)).exitCode, 0);
});

const REPAIRS = [
  { why: 'the table is gone', script: 'nft flush ruleset', stays: [/permission/, /table inet watertight/] },
  {
    why: 'the slices are gone',
    script: 'systemctl stop watertight.slice',
    stays: [/permission/, /watertight.slice/, /watertight-acme.slice/, /table inet watertight/],
  },
  {
    why: 'the user is gone',
    script: 'userdel wt-acme',
    stays: [/permission/, /user wt-acme/, /table inet watertight/],
  },
] as const;

t.test('a repair that is cut off says what stays, and the next run completes it', async (t) => {
  for (const { why, script, stays } of REPAIRS) {
    await shell(script);
    const said: ProvisionEvent[] = [];
    await cutOff({ why, when: (event) => event.type === 'claim', how: 'interrupt' }, said);
    await untilQuiet();
    const finished = said.at(-1);
    t.match(finished, { type: 'finished', result: 'rolled-back-in-part' }, `${why}: ${trouble(said)}`);
    const kept = finished?.type === 'finished' ? (finished.takenBack?.kept ?? []) : [];
    t.match(kept, stays, why);
    t.equal(kept.length, stays.length, `${why}: ${kept.join('; ')}`);
    t.notOk(await permitted(), `${why}: no permission`);
    t.match(await shell('nft list tables'), /table inet watertight/, why);
    t.equal((await events('provision', HOST)).exitCode, 0, `${why}: completed`);
    t.ok(await permitted(), why);
  }
});

interface Cut {
  readonly why: string;
  readonly when: (event: ProvisionEvent) => boolean;
  readonly how: 'kill' | 'network' | 'kill-host' | 'interrupt';
}

const isStep = (id: string) => (event: ProvisionEvent) => event.type === 'step' && event.id.startsWith(id);
const CUTS: readonly Cut[] = [
  { why: 'before anything was sent', when: (event) => event.type === 'prerequisite', how: 'kill' },
  {
    why: 'while the program is uploaded',
    when: (event) => event.type === 'progress' && /uploading/.test(event.text),
    how: 'kill',
  },
  { why: 'when the plan is known', when: (event) => event.type === 'plan', how: 'network' },
  { why: 'among the users', when: isStep('user:wt-acme'), how: 'kill' },
  { why: 'among the files', when: isStep('file:/etc/watertight/watertight.nft'), how: 'network' },
  { why: 'when units are loaded', when: isStep('unit:daemon-reload'), how: 'kill-host' },
  { why: 'when the ruleset is loaded', when: isStep('ruleset:'), how: 'kill' },
  { why: 'when the ruleset is loaded, on the host', when: isStep('ruleset:'), how: 'kill-host' },
  { why: 'during the proof', when: (event) => event.type === 'claim', how: 'kill' },
  { why: 'during the proof, on the host', when: (event) => event.type === 'claim', how: 'kill-host' },
  { why: 'during the proof, by Ctrl-C', when: (event) => event.type === 'claim', how: 'interrupt' },
  { why: 'when permission is given', when: isStep('permission:'), how: 'kill-host' },
  { why: 'before it is confirmed', when: (event) => event.type === 'confirm', how: 'network' },
];

/** Starts provision and cuts it off at the moment. Resolves when the controller is gone. */
async function cutOff({ when, how }: Cut, said: ProvisionEvent[] = []): Promise<number | undefined> {
  const controller = start('provision', HOST, '--format', 'ndjson');
  const cable = cableName(lab.name, 1);
  let cut: Promise<unknown> | null = null;
  const lines = createInterface({ input: controller.stdout });
  for await (const line of lines) {
    const event = readEvent(line);
    if (event !== null) said.push(event);
    if (event === null || cut !== null || !when(event)) continue;
    if (how === 'network') cut = execa('ip', ['link', 'set', cable, 'down']).then(() => controller.kill('SIGKILL'));
    else if (how === 'kill') cut = Promise.resolve(controller.kill('SIGKILL'));
    else if (how === 'interrupt') cut = Promise.resolve(controller.kill('SIGINT'));
    else cut = shell('systemctl kill --signal=KILL "run-*.service"');
  }
  await cut;
  const { exitCode } = await controller;
  if (how === 'network') await execa('ip', ['link', 'set', cable, 'up']);
  if (cut === null) throw new Error('the moment never came');
  return exitCode;
}

/** Ends the watch. */
const WATCHED = '/run/watertight-test-watched';

/** Until no run is going on on the host any more. */
async function untilQuiet(): Promise<void> {
  const going = 'systemctl list-units --no-legend --plain "run-*.service" | grep -c "provision --local" || true';
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await shell(going)).trim() === '0') return;
    await delay(200);
  }
  throw new Error('the run on the host does not end');
}

t.test('cut off at any moment, a host is never open, and the next run completes it', async (t) => {
  for (const cut of CUTS) {
    t.equal((await start('deprovision', HOST, '--keep-packages')).exitCode, 0, 'a host without any of it');
    const watching = onHost(lab, HOST, ['/bin/sh', '-s', WATCHED], { input: WATCH, deadlineMs: 150_000 });
    const exitCode = await cutOff(cut);
    if (cut.how === 'interrupt') t.equal(exitCode, 130, 'Ctrl-C ends with its own status');
    await untilQuiet();
    if (cut.how !== 'kill-host') t.notOk(await permitted(), `${cut.why}, ${cut.how}: no permission is left`);
    const { exitCode: next, said } = await events('provision', HOST);
    t.equal(next, 0, `${cut.why}, ${cut.how}: ${trouble(said)}`);
    await shell(`touch ${WATCHED}`);
    const { stdout } = await watching;
    t.notMatch(stdout, /OPEN/, `${cut.why}, ${cut.how}: never open`);
    t.match(stdout, /watched/, 'and it was watched');
  }
});

async function permitted(): Promise<boolean> {
  return (await shell('test -e /etc/sudoers.d/watertight-acme && echo yes || echo no')).trim() === 'yes';
}

t.test('a tenant that is no longer configured leaves nothing behind', async (t) => {
  const inventory = parse(await readFile(lab.inventory, 'utf8'));
  inventory.hosts[HOST].tenants.push('b-2');
  inventory.tenants['b-2'] = { allow: ['example.net'], runtimes: ['opencode'] };
  const two = join(folder, 'two.yaml');
  await writeFile(two, stringify(inventory));
  const run = (config: string) =>
    execa(process.execPath, [PROGRAM, 'provision', HOST, '--config', config], { reject: false, all: true });
  const added = await run(two);
  t.equal(added.exitCode, 0, added.all);
  t.match(await shell('getent passwd wt-b-2; nft list table inet watertight'), /wt-b-2[\s\S]*b-2_udp/);
  const removed = await run(lab.inventory);
  t.equal(removed.exitCode, 0, removed.all);
  const left = await shell(
    "ls -R /etc/watertight /etc/systemd/system /etc/sudoers.d /sys/fs/cgroup/watertight.slice; getent passwd; nft list ruleset; systemctl list-units --all 'watertight*'",
  );
  t.notMatch(left, /b-2|b\\x2d2/);
});

t.test('deprovision takes everything away again, and a second one nothing', async (t) => {
  const { all, exitCode } = await start('deprovision', HOST);
  t.equal(exitCode, 0, all);
  t.strictSame(differing(bare, await fingerprint()), []);
  t.equal(await leftovers(), '');
  const { said } = await events('deprovision', '--all');
  t.match(said.at(-1), { type: 'finished', exit: 0, changes: 0 });
});
