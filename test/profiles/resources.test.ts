import fc from 'fast-check';
import t from 'tap';
import { renderHost } from '../../profiles/host.js';
import { PATHS } from '../../profiles/names.js';
import type { HostProfile, ProfileFile } from '../../profiles/profile.js';
import { type Change, type Operation, STAGES } from '../../profiles/resources/change.js';
import type { FileFact, HostFacts, UnitFact, UserFact } from '../../profiles/resources/facts.js';
import { compareFile } from '../../profiles/resources/file.js';
import { formatManifest, MANIFEST, manifestOf, parseManifest } from '../../profiles/resources/manifest.js';
import { PACKAGES_NOTE } from '../../profiles/resources/package.js';
import { parseFacts } from '../../profiles/resources/parse-facts.js';
import { planProvision } from '../../profiles/resources/plan.js';
import { deprovisionQuery, notedPackages, planDeprovision } from '../../profiles/resources/plan-deprovision.js';
import { isWhole, type RollbackStep, rollbackOf, takenBackOf } from '../../profiles/resources/rollback.js';
import { unifiedDiff } from '../../profiles/resources/unified-diff.js';
import { compareUser } from '../../profiles/resources/user.js';
import type { Listing } from '../../profiles/ruleset-state.js';
import { unitPath } from '../../profiles/unit-file.js';

const PROFILE: HostProfile = {
  version: 1,
  host: 'browser-01',
  tenants: [
    { name: 'acme', allow: ['example.com'], runtimes: ['opencode'], proxy: { address: '127.86.0.2', port: 3128 } },
  ],
};
const TWO: HostProfile = {
  ...PROFILE,
  tenants: [
    ...PROFILE.tenants,
    { name: 'b-2', allow: ['example.net'], runtimes: ['opencode'], proxy: { address: '127.86.0.3', port: 3128 } },
  ],
};
const RENDERED = renderHost(PROFILE);
const BUNDLE = { sha256: 'a'.repeat(64), staged: '/var/lib/watertight/staged/watertight.mjs' };
const SUDOERS = '/etc/sudoers.d/watertight-acme';
const POLICY = '/etc/watertight/tenants/acme/policy.json';
const SOCKET = 'watertight-proxy@acme.socket';
const SERVICE = 'watertight-proxy@acme.service';

const ABSENT = { kind: 'absent' } as const;
const LISTED: Listing = { kind: 'listed', text: 'table inet watertight {\n}' };

/** A host that holds nothing of ours. */
function bareHost(): HostFacts {
  const query = deprovisionQuery(renderHost(TWO));
  const unit: UnitFact = {
    loadState: 'not-found',
    activeState: 'inactive',
    unitFileState: '',
    needDaemonReload: false,
    dropIns: [],
  };
  // systemd knows every slice, also one without a file.
  const slice: UnitFact = { ...unit, loadState: 'loaded' };
  return {
    files: new Map(query.files.map((path): [string, FileFact] => [path, ABSENT])),
    users: new Map(query.users.map((name): [string, UserFact] => [name, ABSENT])),
    units: new Map(query.units.map((name): [string, UnitFact] => [name, name.endsWith('.slice') ? slice : unit])),
    packages: new Map([['dash', '0.5']]),
    ruleset: { live: ABSENT, desired: { kind: 'no-tool' }, installed: null },
  };
}

function fileFact({
  content,
  mode,
  owner,
  group,
}: Pick<ProfileFile, 'content' | 'mode' | 'owner' | 'group'>): FileFact {
  return { kind: 'file', mode, owner, group, sha256: '', content: Buffer.from(content) };
}

/** A host that is what the profile says. */
function provisionedHost(profile: HostProfile = PROFILE): HostFacts {
  const rendered = renderHost(profile);
  const bare = bareHost();
  const manifest = manifestOf(rendered);
  const root = { mode: 0o644, owner: 'root', group: 'root' };
  const files = new Map(bare.files);
  for (const path of manifest.directories) files.set(path, { kind: 'directory', ...root, mode: 0o755 });
  for (const file of [...rendered.files, ...rendered.permissions]) files.set(file.path, fileFact(file));
  files.set(PATHS.bundle, { kind: 'file', ...root, sha256: BUNDLE.sha256, content: null });
  files.set(MANIFEST, fileFact({ content: formatManifest(manifest), ...root }));
  const users = new Map(bare.users);
  for (const { name, comment } of rendered.users) {
    users.set(name, {
      kind: 'present',
      uid: 990,
      gid: 990,
      comment,
      home: '/nonexistent',
      shell: '/usr/sbin/nologin',
      groups: [name],
    });
  }
  const units = new Map(bare.units);
  for (const { name, enabled } of rendered.units) {
    units.set(name, {
      loadState: 'loaded',
      activeState: 'active',
      unitFileState: enabled ? 'enabled' : 'static',
      needDaemonReload: false,
      dropIns: [],
    });
  }
  const packages = new Map(rendered.packages.map((name): [string, string] => [name, '1']));
  return { files, users, units, packages, ruleset: { live: LISTED, desired: LISTED, installed: LISTED } };
}

function changed(facts: HostFacts, part: 'files' | 'users' | 'units', name: string, fact: unknown): HostFacts {
  return { ...facts, [part]: new Map<string, unknown>([...facts[part], [name, fact]]) } as HostFacts;
}

function planOf(facts: HostFacts, profile: HostProfile = PROFILE): readonly Change[] {
  const plan = planProvision(renderHost(profile), BUNDLE, facts);
  if (plan.kind !== 'plan') throw new Error(plan.reasons.join());
  return plan.changes;
}

const ids = (changes: readonly Change[]) => changes.map(({ id }) => id);
const commands = (operations: readonly Operation[]) =>
  operations.map((operation) => (operation.do === 'run' ? operation.command.join(' ') : `write ${operation.path}`));

const operationsOf = (steps: readonly RollbackStep[]) => steps.map(({ operation }) => operation);

t.test('a bare host: everything, in an order that never opens it', async (t) => {
  const changes = planOf(bareHost());
  const at = (id: string) => ids(changes).indexOf(id);
  for (const id of [
    'package:nftables+nodejs+python3+sudo+iproute2+util-linux',
    'user:wt-acme',
    'ruleset:watertight',
    `unit:${SOCKET}`,
  ]) {
    t.not(at(id), -1, id);
  }
  t.equal(at(`permission:${SUDOERS}`), changes.length - 1, 'permission comes last');
  t.ok(at('unit:watertight-acme.slice') < at('ruleset:watertight'), 'a rule stores the id of a cgroup that is there');
  t.ok(at('user:wt-acme') < at('ruleset:watertight'), 'a rule stores the uid of a user that is there');
  const stages = changes.map(({ stage }) => STAGES.indexOf(stage));
  t.strictSame(
    stages,
    [...stages].sort((a, b) => a - b),
    'stages never go back',
  );
});

t.test('a host that is what the profile says needs nothing', async (t) => {
  t.strictSame(ids(planOf(provisionedHost())), []);
  t.strictSame(ids(planOf(provisionedHost(TWO), TWO)), []);
});

/** Every change but a permission's own is framed by withdrawing the permission and giving it back. */
const framed = (...inner: readonly string[]) => [`withdraw:${SUDOERS}`, ...inner, `permission:${SUDOERS}`];
const good = provisionedHost();
const unit = (over: Partial<UnitFact>): UnitFact => ({
  loadState: 'loaded',
  activeState: 'active',
  unitFileState: 'enabled',
  needDaemonReload: false,
  dropIns: [],
  ...over,
});
const user = {
  kind: 'present',
  uid: 990,
  gid: 990,
  comment: 'watertight tenant acme',
  home: '/nonexistent',
  shell: '/usr/sbin/nologin',
  groups: ['wt-acme'],
};
const OPENING = '/run/systemd/system.control/watertight-acme.slice.d/50-IPAddressAllow.conf';
const policy = RENDERED.files.find(({ path }) => path === POLICY) as ProfileFile;
const ruleset = RENDERED.files.find(({ path }) => path === PATHS.ruleset) as ProfileFile;
const permission = RENDERED.permissions[0] as ProfileFile;
/** A host on which nobody has asked the proxy for anything yet. */
const idle = changed(good, 'units', SERVICE, unit({ activeState: 'inactive', unitFileState: 'static' }));

const cases: readonly { why: string; facts: HostFacts; plan: readonly string[]; run?: readonly string[] }[] = [
  {
    why: 'a flushed table',
    facts: { ...good, ruleset: { ...good.ruleset, live: ABSENT } },
    plan: framed('ruleset:watertight'),
    run: ['nft -f /etc/watertight/watertight.nft'],
  },
  {
    why: 'a stale cgroup id',
    facts: { ...good, ruleset: { ...good.ruleset, live: { kind: 'listed', text: '652' } } },
    plan: framed('ruleset:watertight'),
  },
  {
    why: 'no reference to compare with: load it',
    facts: { ...good, ruleset: { ...good.ruleset, desired: { kind: 'error', reason: 'x' } } },
    plan: framed('ruleset:watertight'),
  },
  {
    why: 'a stopped proxy',
    facts: changed(good, 'units', SOCKET, unit({ activeState: 'inactive' })),
    plan: framed(`unit:${SOCKET}`),
    run: [`systemctl start -- ${SOCKET}`],
  },
  {
    why: 'a proxy that does not come back at boot',
    facts: changed(good, 'units', SOCKET, unit({ unitFileState: 'disabled' })),
    plan: framed(`unit:${SOCKET}`),
    run: [`systemctl enable -- ${SOCKET}`],
  },
  {
    why: 'a masked proxy',
    facts: changed(
      good,
      'units',
      SOCKET,
      unit({ loadState: 'masked', activeState: 'inactive', unitFileState: 'masked-runtime' }),
    ),
    plan: framed(`unit:${SOCKET}`),
    run: [`systemctl unmask --runtime -- ${SOCKET}`, `systemctl enable -- ${SOCKET}`, `systemctl start -- ${SOCKET}`],
  },
  {
    why: 'an edited policy is read again by its proxy, and no tunnel drops',
    facts: changed(good, 'files', POLICY, fileFact({ ...policy, content: '{}' })),
    plan: framed(`file:${POLICY}`, `unit:${SERVICE}`),
    run: [`write ${POLICY}`, `systemctl try-reload-or-restart -- ${SERVICE}`],
  },
  {
    why: 'an edited policy of a proxy that is not running: its next start reads it',
    facts: changed(idle, 'files', POLICY, fileFact({ ...policy, content: '{}' })),
    plan: framed(`file:${POLICY}`),
  },
  {
    why: 'a changed service restarts behind its socket, and reads the policy at its start',
    facts: changed(
      changed(good, 'files', POLICY, fileFact({ ...policy, content: '{}' })),
      'files',
      unitPath(SERVICE),
      fileFact({ ...policy, content: 'old' }),
    ),
    plan: framed(`file:${POLICY}`, `file:${unitPath(SERVICE)}`, 'unit:daemon-reload', `unit:${SERVICE}`),
    run: [
      `write ${POLICY}`,
      `write ${unitPath(SERVICE)}`,
      'systemctl daemon-reload',
      `systemctl try-restart -- ${SERVICE}`,
    ],
  },
  {
    why: 'another address: the socket restarts, and its service with it, once',
    facts: [SOCKET, SERVICE].reduce(
      (facts, name) => changed(facts, 'files', unitPath(name), fileFact({ ...policy, content: 'old' })),
      good,
    ),
    plan: framed(`file:${unitPath(SOCKET)}`, `file:${unitPath(SERVICE)}`, 'unit:daemon-reload', `unit:${SOCKET}`),
  },
  {
    why: 'a masked service: nothing stands behind the socket',
    facts: changed(
      good,
      'units',
      SERVICE,
      unit({ loadState: 'masked', activeState: 'inactive', unitFileState: 'masked-runtime' }),
    ),
    plan: framed(`unit:${SERVICE}`),
    run: [`systemctl unmask --runtime -- ${SERVICE}`],
  },
  {
    why: 'a wrong mode',
    facts: changed(good, 'files', POLICY, fileFact({ ...policy, mode: 0o666 })),
    plan: framed(`file:${POLICY}`, `unit:${SERVICE}`),
  },
  {
    why: 'a link in the place of a file',
    facts: changed(good, 'files', POLICY, { kind: 'other', type: 'symbolic link' }),
    plan: framed(`file:${POLICY}`, `unit:${SERVICE}`),
  },
  {
    why: 'a world-writable folder',
    facts: changed(good, 'files', '/etc/watertight', { kind: 'directory', mode: 0o777, owner: 'root', group: 'root' }),
    plan: framed('directory:/etc/watertight'),
    run: ['install -d -m 0755 -o root -g root -- /etc/watertight'],
  },
  {
    why: 'an edited unit file that systemd has not read',
    facts: changed(good, 'units', SOCKET, unit({ needDaemonReload: true })),
    plan: framed('unit:daemon-reload'),
    run: ['systemctl daemon-reload'],
  },
  {
    why: 'a drop-in that opens the slice, beside one of the system for all slices',
    facts: changed(
      good,
      'units',
      'watertight-acme.slice',
      unit({ unitFileState: 'static', dropIns: ['/etc/systemd/system/slice.d/x.conf', OPENING] }),
    ),
    plan: framed(`drop-in:${OPENING}`, 'unit:daemon-reload'),
    run: [`mv -fT -- ${OPENING} ${OPENING}.set-aside`, 'systemctl daemon-reload'],
  },
  {
    why: 'a remark in the ruleset file: what is loaded is the same, so nothing is loaded',
    facts: changed(good, 'files', PATHS.ruleset, fileFact({ ...ruleset, content: `# mine\n${ruleset.content}` })),
    plan: framed(`file:${PATHS.ruleset}`),
  },
  { why: 'a missing user', facts: changed(good, 'users', 'wt-acme', ABSENT), plan: framed('user:wt-acme') },
  {
    why: 'a user in a group of power',
    facts: changed(good, 'users', 'wt-acme', { ...user, groups: ['wt-acme', 'docker'] }),
    plan: framed('user:wt-acme'),
    run: ['usermod --groups  -- wt-acme'],
  },
  {
    why: 'a changed program',
    facts: changed(good, 'files', PATHS.bundle, { ...good.files.get(PATHS.bundle), sha256: 'b'.repeat(64) }),
    plan: framed(`bundle:${PATHS.bundle}`, `unit:${SERVICE}`),
  },
  {
    why: 'a widened permission alone needs no other change',
    facts: changed(good, 'files', SUDOERS, fileFact({ ...permission, content: 'x' })),
    plan: [`permission:${SUDOERS}`],
    run: [`write ${SUDOERS}`],
  },
  { why: 'a removed permission', facts: changed(good, 'files', SUDOERS, ABSENT), plan: [`permission:${SUDOERS}`] },
  {
    why: 'a missing package',
    facts: { ...good, packages: new Map([...good.packages].filter(([name]) => name !== 'nftables')) },
    plan: framed('package:nftables'),
  },
];

t.test('from facts and profile to exact changes', async (t) => {
  for (const { why, facts, plan, run } of cases) {
    const changes = planOf(facts);
    t.strictSame(ids(changes), plan, why);
    const inner = changes.filter(
      ({ stage, kind }) => stage !== 'withdraw' && (kind !== 'permission' || changes.length === 1),
    );
    if (run) t.strictSame(commands(inner.flatMap(({ operations }) => operations)), run, why);
  }
});

t.test('a tenant that left the profile is taken away after the new rules are loaded', async (t) => {
  const service = 'watertight-proxy@b\\x2d2.service';
  const two = changed(provisionedHost(TWO), 'units', service, unit({ unitFileState: 'static' }));
  const changes = planOf({ ...two, ruleset: { ...two.ruleset, desired: { kind: 'listed', text: 'one tenant' } } });
  const found = ids(changes);
  t.equal(found[1], `withdraw:/etc/sudoers.d/watertight-b-2`);
  t.notOk(found.includes('permission:/etc/sudoers.d/watertight-b-2'), 'its permission does not come back');
  t.equal(found.at(-1), `permission:${SUDOERS}`, 'the other tenant gets its own back');
  const at = (id: string) => found.indexOf(id);
  t.ok(at('ruleset:watertight') < at('unit:watertight-b\\x2d2.slice'), 'the parent slice drops what still runs');
  t.ok(at('unit:watertight-proxy@b\\x2d2.socket') < at(`unit:${service}`), 'a socket would start its service again');
  t.ok(at('unit:watertight-b\\x2d2.slice') < at('user:wt-b-2'), 'a user with processes cannot be removed');
  t.ok(at(`file:/etc/systemd/system/watertight-b\\x2d2.slice`) > 0);
});

t.test('what was not read is an error and never "absent"', async (t) => {
  const files = new Map(good.files);
  files.delete(SUDOERS);
  t.throws(() => planOf({ ...good, files }), { message: /watertight-acme was not read/ });
});

t.test('an account with uid 0 is a conflict, not a thing to mend', async (t) => {
  const answer = compareUser({ ...user, uid: 0 } as UserFact, { name: 'wt-acme', comment: '' }, false);
  t.match(answer, { kind: 'conflict', reason: /uid 0/ });
});

t.test('a file comes back as it was: content, mode and owner', async (t) => {
  const before = fileFact({ content: 'old', mode: 0o600, owner: 'daemon', group: 'adm' });
  const change = compareFile(before, policy, { kind: 'file', stage: 'files' });
  t.match(change?.undo, [
    { do: 'write', path: POLICY, content: Buffer.from('old'), mode: 0o600, owner: 'daemon', group: 'adm' },
  ]);
  t.strictSame(
    compareFile(ABSENT, policy, { kind: 'file', stage: 'files' })?.undo.map(
      (undo) => undo.do === 'run' && undo.command[0],
    ),
    ['rm'],
  );
});

t.test('rolling back: last first, then slices, rules, units, and permission at the very end', async (t) => {
  const changes = planOf(
    changed(
      { ...good, ruleset: { ...good.ruleset, desired: { kind: 'listed', text: 'new' } } },
      'files',
      POLICY,
      fileFact({ ...policy, content: '{}' }),
    ),
  );
  const back = rollbackOf(changes);
  t.strictSame(commands(operationsOf(back.undo)), [`rm -f -- ${SUDOERS}`, `write ${POLICY}`]);
  t.strictSame(commands(operationsOf(back.settle)), [
    'systemctl daemon-reload',
    'nft -f -',
    `systemctl try-reload-or-restart -- ${SERVICE}`,
  ]);
  t.strictSame(commands(operationsOf(back.permissions)), [`write ${SUDOERS}`]);
  const open = planOf({ ...good, ruleset: { ...good.ruleset, live: ABSENT } });
  t.strictSame(
    commands(operationsOf(rollbackOf(open).permissions)),
    [],
    'a host that was open before gets no permission back',
  );
});

t.test('what a rollback leaves is said: a change either has a way back or says that it stays', async (t) => {
  const plans = [
    { why: 'a bare host', changes: planOf(bareHost()) },
    { why: 'a tenant goes', changes: planOf(provisionedHost(TWO)) },
    ...cases.map(({ why, facts }) => ({ why, changes: planOf(facts) })),
  ];
  for (const { why, changes } of plans) {
    for (const { id, undo, settle, kept } of changes) {
      // systemd reads its files anew in every rollback.
      const isReload = id === 'unit:daemon-reload';
      t.ok(isReload || undo.length + settle.length + kept.length > 0, `${why}: ${id}`);
    }
  }
});

const STAYS: readonly { why: string; facts: HostFacts; kept: readonly RegExp[]; whole: boolean }[] = [
  {
    why: 'a flushed table: it stays loaded, and the permission stays away',
    facts: { ...good, ruleset: { ...good.ruleset, live: ABSENT } },
    kept: [/permission .*acme stays withdrawn/, /table inet watertight stays loaded/],
    whole: false,
  },
  {
    why: 'a table of no file',
    facts: changed(
      { ...good, ruleset: { ...good.ruleset, desired: { kind: 'listed', text: 'new' }, installed: null } },
      'files',
      PATHS.ruleset,
      ABSENT,
    ),
    kept: [/permission .*acme stays withdrawn/, /table inet watertight, .* is not loaded again/],
    whole: false,
  },
  {
    why: 'a link in the place of a file',
    facts: changed(good, 'files', POLICY, { kind: 'other', type: 'symbolic link' }),
    kept: [/the symbolic link that stood at .*policy.json is not put back/],
    whole: false,
  },
  {
    why: 'a file in the place of a folder',
    facts: changed(good, 'files', '/etc/watertight', fileFact({ ...policy, content: '' })),
    kept: [/the file that stood at \/etc\/watertight is not put back/],
    whole: false,
  },
  {
    why: 'a mask',
    facts: changed(good, 'units', SERVICE, unit({ loadState: 'masked', unitFileState: 'masked-runtime' })),
    kept: [/watertight-proxy@acme.service stays unmasked/],
    whole: false,
  },
  {
    why: 'a missing package',
    facts: { ...good, packages: new Map([...good.packages].filter(([name]) => name !== 'nftables')) },
    kept: [/packages stay installed.*: nftables$/],
    whole: true,
  },
  {
    why: 'a stopped slice: a rule cannot be loaded without its cgroup',
    facts: changed(good, 'units', 'watertight-acme.slice', unit({ activeState: 'inactive', unitFileState: 'static' })),
    kept: [/watertight-acme.slice stays started/],
    whole: false,
  },
  {
    why: 'a missing user: a rule cannot be loaded without it',
    facts: changed(good, 'users', 'wt-acme', ABSENT),
    kept: [/the user wt-acme stays/],
    whole: false,
  },
  { why: 'a bare host', facts: bareHost(), kept: [/packages stay/], whole: true },
  { why: 'an edited policy', facts: changed(good, 'files', POLICY, ABSENT), kept: [], whole: true },
];

t.test('what stays of a run that was taken back', async (t) => {
  for (const { why, facts, kept, whole } of STAYS) {
    const changes = planOf(facts);
    const back = takenBackOf(changes, new Set());
    t.equal(back.kept.length, kept.length, `${why}: ${back.kept.join('; ')}`);
    for (const words of kept) t.match(back.kept.join('\n'), words, why);
    t.equal(back.changes, changes.length - kept.length, why);
    t.equal(isWhole(changes), whole, why);
  }
  const withheld = takenBackOf(planOf(changed(good, 'files', POLICY, ABSENT)), new Set([`withdraw:${SUDOERS}`]));
  t.match(withheld.kept, [/permission .*acme stays withdrawn/], 'where something else could not be taken back');
});

t.test('no file is planned before its folder', async (t) => {
  for (const profile of [PROFILE, TWO]) {
    const found = ids(planOf(bareHost(), profile));
    const folders = found.filter((id) => id.startsWith('directory:'));
    t.ok(folders.length > 3);
    for (const folder of folders) {
      const inside = found.findIndex((id) => id.includes(`:${folder.slice('directory:'.length)}/`));
      t.ok(inside === -1 || found.indexOf(folder) < inside, folder);
    }
  }
});

t.test('why the table is loaded is said to an operator, and how the listings differ to whoever asks', async (t) => {
  const reasons: readonly { live: Listing; desired: Listing; says: RegExp; shows: RegExp | null }[] = [
    { live: ABSENT, desired: LISTED, says: /\(the table is not loaded\)$/, shows: /^\+table inet/m },
    {
      live: { kind: 'listed', text: 'table inet watertight {\n}\nmore' },
      desired: LISTED,
      says: /\(the live table differs from the profile\)$/,
      shows: /^-more$/m,
    },
    {
      live: LISTED,
      desired: { kind: 'error', reason: '/dev/stdin:52:7-53: Error: cgroupv2 path fails: No such file or directory' },
      says: /\(a tenant's slice is not running\)$/,
      shows: null,
    },
    {
      live: LISTED,
      desired: { kind: 'error', reason: '/dev/stdin:52:7-53: Error: User does not exist' },
      says: /\(the live table cannot be compared with the profile yet\)$/,
      shows: null,
    },
  ];
  for (const { live, desired, says, shows } of reasons) {
    const change = planOf({ ...good, ruleset: { ...good.ruleset, live, desired } }).find(
      ({ kind }) => kind === 'ruleset',
    );
    t.match(change?.summary, says);
    if (shows === null) t.equal(change?.diff, null);
    else t.match(change?.diff, shows);
  }
});

t.test('deprovision takes permission first and packages last, and only what is ours', async (t) => {
  const noted = changed(
    good,
    'files',
    PACKAGES_NOTE,
    fileFact({ content: 'nftables\nlibjansson4\n-o\n../x\n', mode: 0o644, owner: 'root', group: 'root' }),
  );
  const host = { ...noted, packages: new Map([...noted.packages, ['libjansson4', '2']]) };
  const changes = planDeprovision(RENDERED, host, { keepPackages: false });
  const found = ids(changes);
  t.equal(found[0], `permission:${SUDOERS}`);
  const order = [
    'unit:watertight-acme.slice',
    `unit:${SOCKET}`,
    'ruleset:watertight',
    `file:${POLICY}`,
    'user:wt-acme',
    'package:noted',
    'directory:/var/lib/watertight',
  ];
  t.strictSame(
    found.filter((id) => order.includes(id)),
    order,
  );
  t.strictSame(notedPackages(host), ['nftables', 'libjansson4'], 'names that are none are passed over');
  const keeping = planDeprovision(RENDERED, host, { keepPackages: true });
  t.notOk(ids(keeping).includes('package:noted'));
  t.strictSame(
    commands(keeping.at(-1)?.operations ?? []),
    [`rm -rf -- ${MANIFEST}`],
    'packages that stay are still noted',
  );
  t.strictSame(ids(planDeprovision(RENDERED, bareHost(), { keepPackages: false })), [], 'a bare host needs nothing');
});

t.test('the note on the host', async (t) => {
  const manifest = manifestOf(renderHost(TWO));
  t.strictSame(
    formatManifest(parseManifest(Buffer.from(formatManifest(manifest)))),
    formatManifest(manifest),
    'comes back whole',
  );
  const hostile = [
    'file /etc/passwd',
    'file /etc/watertight/../passwd',
    'directory /etc',
    'directory /var/lib/watertight/../..',
    'user root',
    'unit ssh.service',
    'permission /etc/sudoers',
    'file',
  ];
  const read = parseManifest(Buffer.from(hostile.join('\n')));
  t.strictSame(Object.values(read).flat(), [], 'nothing foreign is ever taken for ours');
});

const NONCE = 'n0123';
const record = (...fields: readonly string[]) => [NONCE, ...fields].join('\t');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const ANSWER = [
  'a banner from .profile',
  record('file', '/etc/a', 'present', 'regular file|644|root|0|UNKNOWN|1234|2', 'f'.repeat(64), base64('hi')),
  record('file', '/etc/b', 'absent'),
  record('file', '/etc/c', 'present', 'directory|755|root|0|root|0|4096', '', ''),
  record('file', '/etc/d', 'present', 'symbolic link|777|root|0|root|0|7', '', ''),
  record(
    'user',
    'wt-acme',
    'present',
    base64('wt-acme:x:999:997:a comment:/nonexistent:/usr/sbin/nologin'),
    base64('wt-acme adm\n'),
  ),
  record(
    'units',
    '0',
    base64(
      'Id=a.slice\nLoadState=loaded\nActiveState=active\nDropInPaths=\nUnitFileState=static\nNeedDaemonReload=no\n\nId=b\\x2d2.socket\nLoadState=not-found\nActiveState=inactive\nNeedDaemonReload=yes',
    ),
  ),
  record('packages', '0', base64('dash\tii \t0.5\ngone\trc \t1\nheld\thi \t2\n')),
  record(
    'ruleset',
    'live',
    '1',
    base64('Error: No such file or directory\nlist table inet watertight\n                ^^^^^^^^^^'),
  ),
  record('ruleset', 'desired', '0', base64('table inet watertight {\n\tcounter a {\n\t\tpackets 7 bytes 99\n\t}\n}')),
  record('end', 'ok'),
].join('\n');

t.test('facts are read from their frames', async (t) => {
  const answer = parseFacts(ANSWER, NONCE);
  if (answer.kind !== 'facts') throw new Error(answer.reason);
  const { files, users, units, packages, ruleset } = answer.facts;
  t.match(files.get('/etc/a'), { kind: 'file', mode: 0o644, owner: 'root', group: '1234', content: Buffer.from('hi') });
  t.strictSame(files.get('/etc/b'), { kind: 'absent' });
  t.match(files.get('/etc/c'), { kind: 'directory', mode: 0o755 });
  t.match(files.get('/etc/d'), { kind: 'other', type: 'symbolic link' });
  t.match(users.get('wt-acme'), { uid: 999, shell: '/usr/sbin/nologin', groups: ['wt-acme', 'adm'] });
  t.match(units.get('b\\x2d2.socket'), { loadState: 'not-found', needDaemonReload: true });
  t.strictSame([...packages.keys()], ['dash', 'held']);
  t.strictSame(ruleset.live, { kind: 'absent' });
  t.match(ruleset.desired, { kind: 'listed', text: /packets 0 bytes 0/ }, 'figures do not count');
});

const broken: readonly { why: string; from: string; to: string }[] = [
  { why: 'cut off before its end', from: record('end', 'ok'), to: '' },
  {
    why: 'a path that could not be read',
    from: record('file', '/etc/b', 'absent'),
    to: record('file', '/etc/b', 'error', base64('Permission denied')),
  },
  {
    why: 'a user that could not be looked up',
    from: record('user', 'wt-acme', 'present'),
    to: record('user', 'wt-acme', 'error'),
  },
  { why: 'systemd that does not answer', from: record('units', '0'), to: record('units', '124') },
  { why: 'a dpkg that does not answer', from: record('packages', '0'), to: record('packages', '2') },
  { why: 'no word about the ruleset', from: record('ruleset', 'live', '1'), to: 'x' },
];

t.test('an answer that is wanting is an error, never "absent"', async (t) => {
  for (const { why, from, to } of broken) t.match(parseFacts(ANSWER.replace(from, to), NONCE), { kind: 'error' }, why);
});

t.test('no answer makes the reader throw, and none without its end is believed', async () => {
  const field = fc.oneof(
    fc.string(),
    fc.constantFrom('file', 'user', 'units', 'packages', 'ruleset', 'live', '0', 'present', 'end', 'ok'),
  );
  const line = fc.array(field, { maxLength: 6 }).map((fields) => record(...fields));
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const answer = parseFacts(lines.join('\n'), NONCE);
      return answer.kind === 'error' || lines.some((text) => text.includes('end\tok'));
    }),
  );
});

t.test('a diff cannot steer the terminal that shows it', async (t) => {
  const diff = unifiedDiff('/etc/a', Buffer.from('a\n'), Buffer.from('\u001b[2J\u202etxt\n')) ?? '';
  t.match(diff, /^--- \/etc\/a\n\+\+\+ \/etc\/a\n/);
  t.notMatch(diff, /[\u001b\u202e]/);
  t.equal(unifiedDiff('/etc/a', Buffer.from('a'), Buffer.from('a')), null);
});
