import { readFile } from 'node:fs/promises';
import t from 'tap';
import { CATALOGUE } from '../../checks/catalogue.js';
import { type ChildIdentity, parseStatus } from '../../checks/child-identity.js';
import { bpfAddresses } from '../../checks/claims/bpf-addresses.js';
import { identityCgroup } from '../../checks/claims/identity-cgroup.js';
import { identityHook } from '../../checks/claims/identity-hook.js';
import { identityLevel } from '../../checks/claims/identity-level.js';
import { identityRuleset } from '../../checks/claims/identity-ruleset.js';
import { ledgerCounters } from '../../checks/claims/ledger-counters.js';
import { policyInForce } from '../../checks/claims/policy-in-force.js';
import { sandboxProcess } from '../../checks/claims/sandbox-process.js';
import type { HostState } from '../../checks/host-state.js';
import type { Scene } from '../../checks/scene.js';
import type { Verdict } from '../../core/outcome.js';

const live = await readFile(new URL('../fixtures/live-table.txt', import.meta.url), 'utf8');
const slice = 'watertight.slice/watertight-acme.slice';

const identity: ChildIdentity = {
  pid: 7,
  uids: [999, 999, 999, 999],
  groups: [997],
  effective: '0000000000000000',
  bounding: '0000000000000000',
  noNewPrivileges: true,
  seccomp: 2,
  cgroup: `${slice}/watertight-run-1.service`,
  sliceInode: 42,
  descriptors: [],
};

const good: HostState = {
  tenant: 'acme',
  ruleset: { kind: 'listed', live, comparison: { kind: 'equal' } },
  cgroup: { path: slice, inode: 42 },
  child: { kind: 'seen', identity },
  uid: 999,
  addressFilter: {
    kind: 'seen',
    within: { cgroup: `0::/${slice}/watertight-filter-1.service`, denied: 'EPERM', allowed: 'arrived' },
    outside: { cgroup: '0::/system.slice/x', denied: 'arrived', allowed: 'arrived' },
  },
  policy: { kind: 'read', profile: 'aa', file: 'aa', proxy: 'aa', mode: 'enforce' },
};

const filter = (within: object, outside: object = {}): Partial<HostState> => {
  if (good.addressFilter.kind !== 'seen') throw new Error('the good case was seen');
  const { addressFilter } = good;
  return {
    addressFilter: {
      kind: 'seen',
      within: { ...addressFilter.within, ...within },
      outside: { ...addressFilter.outside, ...outside },
    },
  };
};
const policy = (over: object): Partial<HostState> => {
  if (good.policy.kind !== 'read') throw new Error('the good case was read');
  return { policy: { ...good.policy, ...over } };
};

const table = (text: string): Partial<HostState> => ({
  ruleset: { kind: 'listed', live: text, comparison: { kind: 'equal' } },
});
const child = (over: Partial<ChildIdentity>): Partial<HostState> => ({
  child: { kind: 'seen', identity: { ...identity, ...over } },
});
const gone: Partial<HostState> = { ruleset: { kind: 'absent' } };
const unreadable: Partial<HostState> = { ruleset: { kind: 'unknown', reason: 'nft gave no answer' } };
const noChild: Partial<HostState> = { child: { kind: 'unknown', reason: 'no child' } };

const cases: readonly {
  claim: { id: string; judge: (state: HostState) => { verdict: Verdict; reason: string } };
  why: string;
  spoil: Partial<HostState>;
  verdict: Verdict;
  reason: RegExp;
}[] = [
  { claim: identityRuleset, why: 'equal to the profile', spoil: {}, verdict: 'proven', reason: /equals/ },
  { claim: identityRuleset, why: 'flushed', spoil: gone, verdict: 'disproved', reason: /not loaded/ },
  { claim: identityRuleset, why: 'nft hangs', spoil: unreadable, verdict: 'inconclusive', reason: /no answer/ },
  {
    claim: identityRuleset,
    why: 'another rule',
    spoil: { ruleset: { kind: 'listed', live, comparison: { kind: 'differs', reason: 'line 3' } } },
    verdict: 'disproved',
    reason: /line 3/,
  },
  {
    claim: identityRuleset,
    why: 'nothing to hold it against',
    spoil: { ruleset: { kind: 'listed', live, comparison: { kind: 'unknown', reason: 'does not load' } } },
    verdict: 'inconclusive',
    reason: /does not load/,
  },
  { claim: identityCgroup, why: 'in the cgroup of the rule', spoil: {}, verdict: 'proven', reason: /below id 42/ },
  { claim: identityCgroup, why: 'flushed', spoil: gone, verdict: 'disproved', reason: /not loaded/ },
  { claim: identityCgroup, why: 'nft hangs', spoil: unreadable, verdict: 'inconclusive', reason: /no answer/ },
  {
    claim: identityCgroup,
    why: 'the slice was made anew: the rule holds a number',
    spoil: table(live.replaceAll(`"${slice}"`, '652')),
    verdict: 'disproved',
    reason: /holds the id 652 of a cgroup that is gone/,
  },
  {
    claim: identityCgroup,
    why: 'no element',
    spoil: table(live.replaceAll(`"${slice}"`, '"other.slice"')),
    verdict: 'disproved',
    reason: /no rule names it/,
  },
  {
    claim: identityCgroup,
    why: 'no slice',
    spoil: { cgroup: { path: slice, inode: null } },
    verdict: 'disproved',
    reason: /no cgroup/,
  },
  {
    claim: identityCgroup,
    why: 'the child is elsewhere',
    spoil: child({ cgroup: 'system.slice/x.service' }),
    verdict: 'disproved',
    reason: /system\.slice/,
  },
  {
    claim: identityCgroup,
    why: 'a folder of the same name with another id',
    spoil: child({ sliceInode: 43 }),
    verdict: 'disproved',
    reason: /not below/,
  },
  { claim: identityCgroup, why: 'no child', spoil: noChild, verdict: 'inconclusive', reason: /no child/ },
  { claim: identityLevel, why: 'level 2', spoil: {}, verdict: 'proven', reason: /level 2/ },
  {
    claim: identityLevel,
    why: 'a wrong level',
    spoil: table(live.replaceAll('level 2', 'level 3')),
    verdict: 'disproved',
    reason: /looks at level 3.*is at level 2/,
  },
  {
    claim: identityLevel,
    why: 'no cgroup rule',
    spoil: table(live.replaceAll('vmap @tenant_cgroups_out', 'accept')),
    verdict: 'disproved',
    reason: /asks for no cgroup/,
  },
  { claim: identityLevel, why: 'no child to measure by', spoil: noChild, verdict: 'inconclusive', reason: /no child/ },
  { claim: identityLevel, why: 'flushed', spoil: gone, verdict: 'disproved', reason: /not loaded/ },
  { claim: identityHook, why: 'hooked', spoil: {}, verdict: 'proven', reason: /both hooks/ },
  {
    claim: identityHook,
    why: 'dormant',
    spoil: table(live.replace('{\n', '{\n\tflags dormant\n')),
    verdict: 'disproved',
    reason: /dormant/,
  },
  {
    claim: identityHook,
    why: 'no output hook',
    spoil: table(live.replace('type filter hook output', 'type filter hook forward')),
    verdict: 'disproved',
    reason: /no base chain hangs on the output hook/,
  },
  {
    claim: identityHook,
    why: 'no input hook',
    spoil: table(live.replace('type filter hook input', 'type filter hook forward')),
    verdict: 'disproved',
    reason: /input hook/,
  },
  {
    claim: identityHook,
    why: 'nothing jumps by cgroup',
    spoil: table(live.replace(/.*socket cgroupv2 level 2 vmap @tenant_cgroups_out\n/, '')),
    verdict: 'disproved',
    reason: /by tenant_cgroups_out/,
  },
  {
    claim: identityHook,
    why: 'nothing jumps by uid',
    spoil: table(live.replace(/.*meta skuid vmap.*\n/, '')),
    verdict: 'disproved',
    reason: /by tenant_users_out/,
  },
  {
    claim: identityHook,
    why: 'the map leads to another tenant',
    spoil: table(live.replaceAll('jump acme_output', 'jump beta_output')),
    verdict: 'disproved',
    reason: /acme_output/,
  },
  { claim: identityHook, why: 'nft hangs', spoil: unreadable, verdict: 'inconclusive', reason: /no answer/ },
  { claim: sandboxProcess, why: 'all as it should be', spoil: {}, verdict: 'proven', reason: /uid 999/ },
  {
    claim: sandboxProcess,
    why: 'another uid',
    spoil: child({ uids: [0, 0, 0, 0] }),
    verdict: 'disproved',
    reason: /uids 0 0 0 0/,
  },
  {
    claim: sandboxProcess,
    why: 'only its saved uid is another',
    spoil: child({ uids: [999, 999, 0, 999] }),
    verdict: 'disproved',
    reason: /uids 999 999 0/,
  },
  {
    claim: sandboxProcess,
    why: 'a group more',
    spoil: child({ groups: [997, 4] }),
    verdict: 'disproved',
    reason: /groups 997 4/,
  },
  {
    claim: sandboxProcess,
    why: 'a capability',
    spoil: child({ effective: '0000000000003000' }),
    verdict: 'disproved',
    reason: /capabilities 0000000000003000/,
  },
  {
    claim: sandboxProcess,
    why: 'a bounding set',
    spoil: child({ bounding: '000001ffffffffff' }),
    verdict: 'disproved',
    reason: /may gain/,
  },
  {
    claim: sandboxProcess,
    why: 'setuid works',
    spoil: child({ noNewPrivileges: false }),
    verdict: 'disproved',
    reason: /setuid/,
  },
  { claim: sandboxProcess, why: 'no seccomp', spoil: child({ seccomp: 0 }), verdict: 'disproved', reason: /seccomp/ },
  {
    claim: sandboxProcess,
    why: 'an inherited socket',
    spoil: child({ descriptors: ['socket:[9]'] }),
    verdict: 'disproved',
    reason: /inherited 1 sockets/,
  },
  {
    claim: sandboxProcess,
    why: 'no such user',
    spoil: { uid: null },
    verdict: 'disproved',
    reason: /user does not exist/,
  },
  { claim: bpfAddresses, why: 'only the proxy', spoil: {}, verdict: 'proven', reason: /EPERM.*arrived/ },
  {
    claim: bpfAddresses,
    why: 'a filter without effect',
    spoil: filter({ denied: 'arrived' }),
    verdict: 'disproved',
    reason: /no effect/,
  },
  {
    claim: bpfAddresses,
    why: 'the proxy cut off too',
    spoil: filter({ allowed: 'EPERM' }),
    verdict: 'disproved',
    reason: /did not arrive/,
  },
  {
    claim: bpfAddresses,
    why: 'nothing arrives outside the slice either',
    spoil: filter({}, { denied: 'silent' }),
    verdict: 'inconclusive',
    reason: /control/,
  },
  {
    claim: bpfAddresses,
    why: 'tried in another cgroup',
    spoil: filter({ cgroup: '0::/system.slice/x.service' }),
    verdict: 'inconclusive',
    reason: /not in the slice/,
  },
  {
    claim: bpfAddresses,
    why: 'could not be tried',
    spoil: { addressFilter: { kind: 'unknown', reason: 'no python' } },
    verdict: 'inconclusive',
    reason: /no python/,
  },
  { claim: policyInForce, why: 'all three agree', spoil: {}, verdict: 'proven', reason: /agree/ },
  {
    claim: policyInForce,
    why: 'an edited file',
    spoil: policy({ file: 'bb', proxy: 'bb' }),
    verdict: 'disproved',
    reason: /file was changed/,
  },
  {
    claim: policyInForce,
    why: 'a proxy on what it read before',
    spoil: policy({ proxy: 'bb' }),
    verdict: 'disproved',
    reason: /running proxy/,
  },
  {
    claim: policyInForce,
    why: 'a proxy without a policy',
    spoil: policy({ proxy: null }),
    verdict: 'disproved',
    reason: /running proxy/,
  },
  {
    claim: policyInForce,
    why: 'report mode',
    spoil: policy({ mode: 'report' }),
    verdict: 'disproved',
    reason: /does not enforce/,
  },
  {
    claim: policyInForce,
    why: 'no status socket',
    spoil: { policy: { kind: 'unknown', reason: 'no socket' } },
    verdict: 'inconclusive',
    reason: /no socket/,
  },
  { claim: sandboxProcess, why: 'no child', spoil: noChild, verdict: 'inconclusive', reason: /no child/ },
];

t.test('state claims', async (t) => {
  for (const { claim, why, spoil, verdict, reason } of cases) {
    const judged = claim.judge({ ...good, ...spoil });
    t.equal(judged.verdict, verdict, `${claim.id}: ${why}`);
    t.match(judged.reason, reason, `${claim.id}: ${why}: for that reason`);
  }
});

t.test('the totals of a run', async (t) => {
  const due = { proxy: 5, udp: 6, tcp: 12, other: 4, inbound: 2 };
  const read = (moved: Partial<typeof due>) => ({ due, counters: { kind: 'read', moved } as const });
  const totals = [
    { why: 'exactly', given: read(due), verdict: 'proven', reason: /udp 6 of 6/ },
    { why: 'fewer', given: read({ ...due, udp: 5 }), verdict: 'disproved', reason: /fewer.*udp 5 of 6/ },
    { why: 'more', given: read({ ...due, tcp: 13 }), verdict: 'inconclusive', reason: /more.*tcp 13 of 12/ },
    {
      why: 'fewer outweighs more',
      given: read({ ...due, tcp: 13, udp: 0 }),
      verdict: 'disproved',
      reason: /udp 0 of 6/,
    },
    {
      why: 'a counter missing',
      given: read({ proxy: 5, udp: 6, tcp: 12, other: 4 }),
      verdict: 'disproved',
      reason: /inbound/,
    },
    {
      why: 'reset meanwhile',
      given: { due, counters: { kind: 'unknown', reason: 'reset' } as const },
      verdict: 'inconclusive',
      reason: /reset/,
    },
  ];
  for (const { why, given, verdict, reason } of totals) {
    const judged = ledgerCounters.judge(given);
    t.equal(judged.verdict, verdict, why);
    t.match(judged.reason, reason, `${why}: for that reason`);
  }
});

t.test('the catalogue', async (t) => {
  const ids = CATALOGUE.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, 'every id is one of its own');
  for (const { id, claim, hint } of CATALOGUE) {
    t.match(id, /^[a-z]+(\.[a-z0-9-]+)+$/, `${id} is of the stable form`);
    t.ok(claim.length > 20 && hint.includes('HOST'), `${id} says what it claims and what mends it`);
  }
});

t.test('/proc/PID/status', async (t) => {
  const text =
    'Name:\tpython3\nUid:\t1\t2\t3\t4\nGroups:\t5 6 \nCapEff:\t00\nCapBnd:\t01\nNoNewPrivs:\t1\nSeccomp:\t2\n';
  t.match(parseStatus(text), { uids: [1, 2, 3, 4], groups: [5, 6], bounding: '01', noNewPrivileges: true, seccomp: 2 });
  t.equal(parseStatus(text.replace('Seccomp', 'X')), null, 'a field that is missing is not taken for a zero');
  t.equal(parseStatus(''), null);
});

t.test('what each claim tries', async (t) => {
  const tenant = {
    name: 'acme',
    allow: ['example.com'],
    runtimes: [],
    proxy: { address: '127.86.0.2', port: 3128 },
  };
  const near = (address: string, family: 4 | 6) => ({ family, address, port: 4000 });
  const scene: Scene = {
    tenant,
    loopback: [near('127.0.0.1', 4), near('::1', 6)],
    own: [near('198.51.100.1', 4)],
    markers: ['/tmp/watertight-x'],
  };
  const nonces = new Set<string>();
  for (const claim of CATALOGUE) {
    if (claim.type !== 'attempt') continue;
    const attempts = claim.attempts(scene);
    const control = claim.control(attempts, scene);
    t.ok(attempts.length > 0 && control.length > 0, `${claim.id} tries something, and has a control`);
    for (const { id, nonce, deadline, kind } of [...attempts, ...control]) {
      t.notOk(nonces.has(nonce), `${claim.id}: ${id} has a nonce of its own`);
      nonces.add(nonce);
      t.ok(id.includes(nonce), `${claim.id}: ${id} can be told from others`);
      // One SYN is sent before the first retransmission, 1 s (RFC 6298).
      if (kind === 'tcp' && attempts.some((one) => one.id === id)) t.ok(deadline < 1000, `${claim.id}: one packet`);
    }
  }
});
