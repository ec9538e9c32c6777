import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { CATALOGUE } from '../../checks/catalogue.js';
import type { ClaimResult, VerifyEvent } from '../../core/events.js';
import { parseEvent } from '../../core/report/parse-event.js';
import { onHost, useLab } from '../fixtures/lab.js';
import { copyOfProgram } from '../fixtures/program.js';

t.setTimeout(900_000);

const PROGRAM = copyOfProgram();
const HOST = 'lab-01';
const lab = await useLab();

async function watertight(...args: readonly string[]) {
  return execa(process.execPath, [PROGRAM, ...args, '--config', lab.inventory], { reject: false });
}

async function verify() {
  const { stdout, exitCode } = await watertight('verify', HOST, '--format', 'ndjson');
  const events = stdout.split('\n').flatMap((line) => parseEvent(line) ?? []);
  const claims = events.flatMap((event) => (event.type === 'claim' ? [event as VerifyEvent & ClaimResult] : []));
  return { exitCode, events, claims };
}

async function shell(script: string): Promise<string> {
  const { stdout, stderr, status } = await onHost(lab, HOST, ['/bin/sh', '-es'], { input: script });
  if (status !== 0) throw new Error(`status ${status}: ${stdout}${stderr}`);
  return stdout;
}

const trouble = (claims: readonly ClaimResult[]) =>
  claims.filter(({ verdict }) => verdict !== 'proven').map(({ id, verdict, reason }) => `${id} ${verdict}: ${reason}`);

const provisioned = await watertight('provision', HOST);
if (provisioned.exitCode !== 0) throw new Error(`provision failed: ${provisioned.stdout}${provisioned.stderr}`);

t.test('a contained host: every claim proven, the ledger balanced, and nothing of the run stays', async (t) => {
  const before = await shell('ip -br link; ip rule; ip -6 rule; ls /run/watertight/runs; ss -Htln | sort');
  const { exitCode, events, claims } = await verify();
  t.strictSame(trouble(claims), []);
  t.equal(exitCode, 0);
  t.strictSame(
    new Set(claims.map(({ id }) => id)),
    new Set([...CATALOGUE.map(({ id }) => id), 'installed-profile']),
    'every claim was judged',
  );
  const rows = events.flatMap((event) => (event.type === 'ledger' ? [event] : []));
  t.equal(
    rows.length,
    CATALOGUE.filter((claim) => claim.type === 'attempt' && claim.counter !== null).length,
    'each claim that sends has its row',
  );
  t.strictSame(
    rows.filter(({ balanced }) => !balanced),
    [],
    'and each row balances',
  );
  const after = await shell('ip -br link; ip rule; ip -6 rule; ls /run/watertight/runs; ss -Htln | sort');
  t.equal(after, before, 'links, rules, listeners and runs are what they were');
});

t.test('again and again: no run is retried, and none differs', async (t) => {
  for (let run = 1; run <= 5; run += 1) {
    const { exitCode, claims } = await verify();
    t.equal(exitCode, 0, `run ${run}: ${trouble(claims).join('; ')}`);
  }
});

const SLICE = 'watertight-acme.slice';
/** Deletes the rule of a chain that holds a word. */
const deleteRule = (chain: string, word: string) =>
  `nft delete rule inet watertight ${chain} handle $(nft -a list chain inet watertight ${chain} | sed -n '/${word}/s/.*handle //p' | head -1)`;

/** Each fault with the claims that have to name it, and one that has to stay proven: a fault is not just "all red". */
const SABOTAGES: readonly {
  readonly why: string;
  readonly script: string;
  readonly named: Readonly<Record<string, RegExp>>;
  readonly stays: string;
  /** What provision does not mend: it is not a file of ours. */
  readonly mend?: string;
}[] = [
  {
    why: 'somebody flushed every table',
    script: 'nft flush ruleset',
    named: { 'identity.ruleset': /not loaded/, 'direct.tcp4': /not loaded/, 'ledger.counters': /not loaded/ },
    stays: 'sandbox.process',
  },
  {
    why: 'the slice was stopped and started: its rule holds the id of a cgroup that is gone',
    script: `systemctl stop ${SLICE}; systemctl start ${SLICE}`,
    named: { 'identity.cgroup': /cgroup that is gone/, 'inbound.tcp': /not by its rule/ },
    stays: 'direct.tcp4',
  },
  {
    why: 'the proxy is stopped',
    script: "systemctl stop 'watertight-proxy@acme.socket' 'watertight-proxy@acme.service'",
    named: {
      'proxy.answers': /ECONNREFUSED/,
      'proxy.listed.http': /not fetched/,
      'proxy.unlisted': /not refused by the proxy/,
    },
    stays: 'direct.udp6',
  },
  {
    why: 'the UDP rule is gone',
    script: deleteRule('acme_output', 'acme_udp'),
    named: { 'direct.udp4': /not by its rule/, 'direct.udp6': /not by its rule/, 'ledger.counters': /udp 0 of 6/ },
    stays: 'direct.tcp6',
  },
  {
    why: 'IPv6 is free of the rules',
    script: 'nft insert rule inet watertight output meta nfproto ipv6 accept',
    named: {
      'direct.tcp6': /not by its rule/,
      'direct.udp6': /not by its rule/,
      'identity.ruleset': /meta nfproto ipv6/,
    },
    stays: 'direct.tcp4',
  },
  {
    why: 'the table is dormant',
    script:
      "sed 's/^table inet watertight {$/table inet watertight { flags dormant;/' /etc/watertight/watertight.nft | nft -f -",
    named: { 'identity.hook': /dormant/, 'direct.tcp4': /not by its rule/, 'proxy.listed.http': /did not see it/ },
    stays: 'sandbox.process',
  },
  {
    why: 'nothing jumps to the chain of the tenant by cgroup, and the uid rule catches what it can',
    script: `nft delete element inet watertight tenant_cgroups_out '{ "watertight.slice/${SLICE}" }'`,
    named: { 'identity.hook': /by tenant_cgroups_out/, 'identity.cgroup': /no rule names it/ },
    stays: 'direct.tcp4',
  },
  {
    why: 'nothing jumps to the chain of the tenant at all',
    script: [deleteRule('output', 'tenant_cgroups_out'), deleteRule('output', 'tenant_users_out')].join('\n'),
    named: {
      'identity.level': /asks for no cgroup/,
      'direct.tcp4': /not by its rule/,
      'direct.udp4': /not by its rule/,
    },
    stays: 'inbound.tcp',
  },
  {
    why: 'a wrong level, which loads and never matches',
    script: "sed '/vmap @tenant_cgroups/s/level 2/level 3/' /etc/watertight/watertight.nft | nft -f -",
    named: { 'identity.level': /level 3.*level 2/, 'inbound.tcp': /not by its rule/ },
    stays: 'direct.udp4',
  },
  {
    why: 'the input hook is gone',
    script: deleteRule('input', 'tenant_cgroups_in'),
    named: { 'inbound.tcp': /not by its rule/, 'identity.hook': /input hook/ },
    stays: 'direct.udp4',
  },
  {
    why: 'the proxy allows everything',
    script: [
      'cp -p /etc/watertight/tenants/acme/policy.json /tmp/policy.json',
      `sed -i 's/"name": "\\*.sink.watertight.invalid"/"name": "*.watertight.invalid"/' /etc/watertight/tenants/acme/policy.json`,
      "systemctl restart 'watertight-proxy@acme.service'",
    ].join('\n'),
    named: { 'proxy.unlisted': /arrived/ },
    stays: 'proxy.listed.http',
  },
  {
    why: 'a drop-in for every service of the name opens the sandbox, whatever the launcher passes',
    script: [
      'mkdir -p /etc/systemd/system/watertight-run-.service.d',
      "printf '[Service]\\nTemporaryFileSystem=\\nRestrictAddressFamilies=\\nRestrictNamespaces=no\\n' >/etc/systemd/system/watertight-run-.service.d/x.conf",
      'systemctl daemon-reload',
    ].join('\n'),
    mend: 'rm -r /etc/systemd/system/watertight-run-.service.d; systemctl daemon-reload',
    named: { 'sandbox.doors': /netlink-socket.*system-bus|system-bus.*netlink-socket/ },
    stays: 'direct.tcp4',
  },
  {
    why: 'the address filter of the slice is lifted, and no rule of nft shows it',
    script: `systemctl set-property watertight.slice IPAddressDeny=; systemctl set-property ${SLICE} IPAddressAllow=any`,
    named: { 'bpf.addresses': /no effect/ },
    stays: 'identity.ruleset',
  },
  {
    why: 'a name was added to the policy of the proxy by hand',
    script: [
      `sed -i 's/"example.com"/"example.com", "*.evil.example"/' /etc/watertight/tenants/acme/policy.json`,
      "systemctl reload 'watertight-proxy@acme.service'",
    ].join('\n'),
    named: { 'policy.in-force': /file was changed/ },
    stays: 'proxy.listed.http',
  },
];

t.test('each fault turns its claims red, for its own reason, and no more than them', async (t) => {
  for (const { why, script, named, stays, mend } of SABOTAGES) {
    await shell(script);
    const { exitCode, claims } = await verify();
    t.equal(exitCode, 1, `${why}: exit 1`);
    for (const [id, reason] of Object.entries(named)) {
      t.match(
        claims.find((claim) => claim.id === id),
        { verdict: 'disproved', reason },
        `${why}: ${id}`,
      );
    }
    t.match(
      claims.find(({ id }) => id === stays),
      { verdict: 'proven' },
      `${why}: ${stays} stays proven`,
    );
    const refused = await onHost(lab, HOST, ['watertight', 'run', '--tenant', 'acme', '--', 'true']);
    t.equal(refused.status, 125, `${why}: nothing is launched any more`);
    if (mend) await shell(mend);
    const mended = await watertight('provision', HOST);
    t.equal(mended.exitCode, 0, `${why}: provision mends it: ${mended.stderr.slice(-300)}`);
  }
});

t.test('what cannot be told is not told', async (t) => {
  t.teardown(() => shell('if [ -e /usr/sbin/nft.real ]; then mv /usr/sbin/nft.real /usr/sbin/nft; fi'));
  await shell(
    "mv /usr/sbin/nft /usr/sbin/nft.real; printf '#!/bin/sh\\nexec sleep 600\\n' >/usr/sbin/nft; chmod 755 /usr/sbin/nft",
  );
  const { exitCode, events } = await verify();
  t.equal(exitCode, 2, 'nft hangs');
  t.match(JSON.stringify(events), /no answer|did not answer|timed out|hang/i, 'and the reason says so');
});

t.test('the tenant itself is busy: exact, or could not tell, but never red', async (t) => {
  await shell('mv /usr/sbin/nft.real /usr/sbin/nft 2>/dev/null || true');
  const noise = [
    'import socket, time',
    'end = time.time() + 12',
    'while time.time() < end:',
    '    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)',
    '    try: s.sendto(b"x", ("192.0.2.1", 9))',
    '    except OSError: pass',
    '    s.close(); time.sleep(0.01)',
  ].join('\n');
  const proven = await verify();
  t.equal(proven.exitCode, 0, trouble(proven.claims).join('; '));
  const busy = onHost(lab, HOST, ['watertight', 'run', '--tenant', 'acme', '--', 'python3', '-c', noise]);
  const { claims } = await verify();
  t.strictSame(
    claims.filter(({ verdict }) => verdict === 'disproved').map(({ id, reason }) => `${id}: ${reason}`),
    [],
  );
  t.equal((await busy).status, 0, 'and the work goes on');
});

t.test(
  'the configuration was narrowed since the host was provisioned: the old promise is proven, not this one',
  async (t) => {
    const narrowed = join(t.testdir(), 'watertight.yaml');
    await writeFile(
      narrowed,
      (await readFile(lab.inventory, 'utf8')).replace(
        /allow:[\s\S]*?(?=\n {4}runtimes|\n {4}[a-z])/,
        'allow: ["www.example.com"]',
      ),
    );
    const { stdout, exitCode } = await execa(
      process.execPath,
      [PROGRAM, 'verify', HOST, '--format', 'ndjson', '--config', narrowed],
      { reject: false },
    );
    t.equal(exitCode, 1);
    t.match(stdout, /"id":"installed-profile"[^\n]*"verdict":"disproved"/);
  },
);

t.test('a host on which IPv6 is switched off is contained too', async (t) => {
  await shell('sysctl -qw net.ipv6.conf.all.disable_ipv6=1');
  t.teardown(() => shell('sysctl -qw net.ipv6.conf.all.disable_ipv6=0'));
  const { exitCode, claims } = await verify();
  t.equal(exitCode, 0, trouble(claims).join('; '));
});

t.test('two verifies at once: one after the other, both right', async (t) => {
  const runs = await Promise.all([verify(), verify()]);
  for (const { exitCode, claims } of runs) t.equal(exitCode, 0, trouble(claims).join('; '));
});
