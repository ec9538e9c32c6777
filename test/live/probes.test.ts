import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { HostEntry } from '../../core/configuration/configuration.js';
import { loadConfiguration } from '../../core/configuration/load.js';
import type { PrerequisiteResult } from '../../core/events.js';
import type { Presence } from '../../core/outcome.js';
import { type ProbeReport, probe } from '../../probes/probe.js';
import type { Phase } from '../../probes/question.js';
import { connectTo } from '../../scripts/provision/connect.js';
import { onHost, ownLab } from '../fixtures/lab.js';

t.setTimeout(300_000);

const HOST = 'lab-01';
const lab = await ownLab();
const entry = (await loadConfiguration(lab.inventory)).hosts.get(HOST) as HostEntry;

async function ask(phase: Phase, options: { become?: 'none'; signal?: AbortSignal } = {}): Promise<ProbeReport> {
  const target = connectTo({ ...entry, ...(options.become && { become: options.become }) });
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  try {
    return await probe(target, { phase, bundleDigest: 'a'.repeat(64), version: '0.0.0', ...signal });
  } finally {
    await target.close();
  }
}

async function results(phase: Phase): Promise<ReadonlyMap<string, PrerequisiteResult>> {
  const report = await ask(phase);
  if (report.kind !== 'asked') throw new Error(`not asked: ${report.outcome.kind}`);
  return new Map(report.results.map((result) => [result.id, result]));
}

async function shell(script: string): Promise<string> {
  const { stdout, stderr, status } = await onHost(lab, HOST, ['/bin/sh', '-s'], { input: script });
  if (status !== 0) throw new Error(`status ${status}: ${stdout}${stderr}`);
  return stdout;
}

const BARE: Readonly<Record<string, Presence>> = {
  os: 'present',
  kernel: 'present',
  cgroup2: 'present',
  systemd: 'present',
  sudo: 'present',
  clock: 'present',
  nftables: 'absent',
  'nft-cgroup': 'error',
  node: 'absent',
  python3: 'present',
  iproute2: 'present',
  bundle: 'absent',
  profile: 'absent',
  units: 'absent',
  ruleset: 'error',
};

function presences(found: ReadonlyMap<string, PrerequisiteResult>): Record<string, Presence> {
  return Object.fromEntries([...found].map(([id, { presence }]) => [id, presence]));
}

t.test('a bare host, over SSH and sudo', async (t) => {
  t.same(presences(await results('verify')), BARE, 'what verify needs');
  const provision = await results('provision');
  for (const { id, presence, reason } of provision.values())
    t.equal(presence, 'present', `for provision: ${id}`, { reason });
});

t.test('a login script that talks changes nothing', async (t) => {
  await shell(
    'cp ~ops/.bashrc /root/bashrc; printf "echo hello; echo oops >&2\\n" | cat - /root/bashrc > ~ops/.bashrc',
  );
  t.same(presences(await results('verify')), BARE);
  await shell('mv /root/bashrc ~ops/.bashrc; chown ops: ~ops/.bashrc');
});

t.test('sudo that wants a password: the host was not asked', async (t) => {
  await shell('mkdir /root/sudoers; mv /etc/sudoers.d/* /root/sudoers/; echo "ops ALL=(ALL) ALL" > /etc/sudoers.d/ops');
  const report = await ask('verify');
  t.equal(report.kind === 'not-asked' && report.outcome.kind, 'become-refused');
  await shell('rm /etc/sudoers.d/ops; mv /root/sudoers/* /etc/sudoers.d/');
});

t.test("apt's lock, held for real", async (t) => {
  const unit = 'systemd-run -q --unit=holds-apt';
  const hold = `import fcntl,time; f=open("/var/lib/dpkg/lock-frontend","w"); fcntl.lockf(f,fcntl.LOCK_EX); open("/run/held","w"); time.sleep(600)`;
  await shell(`${unit} python3 -c '${hold}'; until [ -e /run/held ]; do sleep 0.1; done`);
  const held = (await results('provision')).get('apt-lock');
  t.equal(held?.presence, 'absent');
  t.match(held?.found, /^python3 \(process \d+\)$/, 'by whom');
  await shell('systemctl stop holds-apt; rm /run/held');
  t.equal((await results('provision')).get('apt-lock')?.presence, 'present', 'and free again');
});

t.test('a failed unit is a note, not an absence', async (t) => {
  await shell('systemd-run -q --unit=fails false; until systemctl is-failed -q fails; do sleep 0.1; done');
  const systemd = (await results('verify')).get('systemd');
  t.match(systemd, { presence: 'present', found: /degraded/ });
  await shell('systemctl reset-failed');
});

t.test('nft: a real rule by cgroup, and nothing stays behind', async (t) => {
  await shell(
    'apt-get update -q >/dev/null 2>&1; DEBIAN_FRONTEND=noninteractive apt-get install -q -y nftables >/dev/null 2>&1',
  );
  await shell("nft 'add table inet mine; add counter inet mine c'");
  const before = await shell('nft list ruleset');
  const found = await results('verify');
  t.equal(found.get('nftables')?.presence, 'present');
  t.equal(found.get('nft-cgroup')?.presence, 'present');
  t.equal(found.get('ruleset')?.presence, 'absent', "nft is there, and watertight's table is not");
  for (const afterMs of [150, 250, 350, 450]) {
    const cut = new AbortController();
    const asked = ask('verify', { signal: cut.signal });
    await delay(afterMs);
    cut.abort();
    await asked;
  }
  t.equal(
    await shell('nft list ruleset'),
    before,
    'the ruleset is what it was, though the probe was cut off four times',
  );
});

t.test('nft replaced by a program that hangs', async (t) => {
  await shell(
    'mv /usr/sbin/nft /root/nft; printf "#!/bin/sh\\nsleep 600 & wait\\n" > /usr/sbin/nft; chmod 755 /usr/sbin/nft',
  );
  const found = presences(await results('verify'));
  t.same(
    found,
    { ...BARE, nftables: 'error', 'nft-cgroup': 'error', ruleset: 'error' },
    'costs its own questions alone',
  );
  await shell('mv /root/nft /usr/sbin/nft');
});

t.test('an inventory that forbids to become root: the host was not asked', async (t) => {
  const report = await ask('verify', { become: 'none' });
  t.equal(report.kind === 'not-asked' && report.outcome.kind, 'become-refused');
});
