import { execFile } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { parseAllowPattern } from '../../core/configuration/allow-pattern.js';
import { parseConfiguration } from '../../core/configuration/load.js';
import { ConfigurationFailure, UsageFailure } from '../../core/failure.js';
import { parseEntry } from '../../host/egress-proxy/entry.js';
import { parsePolicyFile } from '../../host/egress-proxy/policy-file.js';
import { fileTexts, surroundings, tenantExcerpt } from '../../profiles/excerpt.js';
import { renderHost } from '../../profiles/host.js';
import { hostProfile } from '../../profiles/host-profile.js';
import { sliceUnit, TENANT_NAME, tenantUser } from '../../profiles/names.js';
import { parseHostProfile } from '../../profiles/parse-host-profile.js';
import type { HostProfile } from '../../profiles/profile.js';
import { renderSudoers } from '../../profiles/sudoers.js';
import { golden } from '../golden.js';

const FLEET = parseConfiguration(
  `version: 1
hosts:
  one: { tenants: [acme] }
  three: { tenants: [gamma, acme, beta] }
  odd: { tenants: [a-b--c, x, abcdefghijklmnopqrstuvwxyz-2, accept] }
tenants:
  acme: { allow: [example.com, "*.docs.example.org", "api.example.net:8443"], runtimes: [opencode] }
  beta: { allow: ["[2001:db8::1]:443", "192.0.2.7:8000-8010"], sni: enforce, methods: [GET, HEAD], limits: { requests_per_second: 50 }, deny: ["192.0.2.7:8001"], runtimes: [opencode, _agent-2] }
  gamma: { allow: ["bücher.example"], proxy: { address: 127.64.0.9, port: 8080 } }
  a-b--c: { allow: [example.com], runtimes: [a-b--c] }
  x: { allow: [example.com] }
  abcdefghijklmnopqrstuvwxyz-2: { allow: [example.com], runtimes: [abcdefghijklmnopqrstuvwxyz_12345] }
  accept: { allow: [example.com] }
`,
  '/srv/fleet/watertight.yaml',
);

const contentOf = (profile: HostProfile) =>
  [...renderHost(profile).files, ...renderHost(profile).permissions].map(({ content }) => content).join('\n');

t.test('what is rendered is what was reviewed', async (t) => {
  for (const host of FLEET.hosts.keys()) {
    const rendered = renderHost(hostProfile(FLEET, host));
    const text = `${surroundings(rendered)}\n${fileTexts(rendered)}`;
    t.equal(golden(`test/fixtures/golden/host-${host}.txt`, text), text, host);
    const units = `${JSON.stringify(rendered.units, null, 2)}\n`;
    t.equal(golden(`test/fixtures/golden/host-${host}.units.json`, units), units, `${host}: units`);
  }
});

t.test('the order of a configuration does not show, and the order of a host is fail-closed', async (t) => {
  t.same(
    hostProfile(FLEET, 'three').tenants.map(({ name }) => name),
    ['acme', 'beta', 'gamma'],
  );
  const { files, permissions, units } = renderHost(hostProfile(FLEET, 'three'));
  t.ok(permissions.every(({ path, check }) => path.startsWith('/etc/sudoers.d/') && check?.[0] === 'visudo'));
  t.notOk(
    files.some(({ path }) => path.includes('sudoers')),
    'no permission among the files',
  );
  t.equal(permissions.length, 2, 'who has no runtime grants nothing');
  const names = units.map(({ name }) => name);
  const ruleset = names.indexOf('watertight-ruleset.service');
  t.ok(names.indexOf('watertight-gamma.slice') < ruleset, 'cgroups exist before the rules that hold their ids');
  t.ok(ruleset < names.indexOf('watertight-proxy@acme.socket'));
  for (const { onChange } of units) {
    for (const path of onChange.flatMap(({ paths }) => paths)) {
      const rendered = files.some((file) => file.path === path) || path === '/usr/lib/watertight/watertight.mjs';
      t.ok(rendered, `${path} is a file of the profile`);
    }
  }
});

t.test('the ruleset holds what the facts demand', async (t) => {
  const ruleset = renderHost(hostProfile(FLEET, 'odd')).files.find(({ path }) => path.endsWith('.nft'))?.content ?? '';
  const table: readonly (readonly [RegExp, boolean, string])[] = [
    [
      /^table inet watertight \{ \}\ndelete table inet watertight\n\ntable inet watertight \{$/m,
      true,
      'one transaction',
    ],
    [
      /"watertight\.slice\/watertight-a\\x2db\\x2d\\x2dc\.slice" : jump a-b--c_output/,
      true,
      'hyphens escaped: level 2',
    ],
    [/ct state/, false, 'what was open before the load must not pass'],
    [/table ip6? /, false, 'both families'],
    [/reject with icmp[ 6]/, false, 'no refusal for one family only'],
    [/log /, false, 'no log prefix to quote'],
    [/socket cgroupv2 level 1 "watertight\.slice" counter name "stray" drop/, true, 'strays are dropped'],
  ];
  for (const [shape, present, why] of table) t.equal(shape.test(ruleset), present, why);
  for (const tenant of ['x', 'accept', 'a-b--c']) {
    const chain =
      new RegExp(`chain ${tenant}_output \\{\\n((?: {4}.*\\n)+)`).exec(ruleset)?.[1]?.trimEnd().split('\n') ?? [];
    t.equal(
      chain.at(-1)?.trim(),
      `counter name "${tenant}_other" drop`,
      `${tenant}: the chain ends with a counted drop`,
    );
    const ways = chain.filter((rule) => rule.endsWith(' accept'));
    t.ok(ways.length > 0, `${tenant}: there is a way out`);
    t.ok(
      ways.every((rule) => /^ +ip daddr 127\.[\d.]+ tcp dport 3128 /.test(rule)),
      `${tenant}: it leads to the proxy alone`,
    );
  }
});

t.test('a proxy depends on nothing that a client owns', async (t) => {
  for (const { path, content } of renderHost(hostProfile(FLEET, 'three')).files) {
    if (!path.includes('watertight-proxy@')) continue;
    t.notMatch(content, /StopWhenUnneeded|BindsTo|PartOf|ssh|Slice=watertight/, path);
    if (path.endsWith('.service')) t.notMatch(content, /^MemoryDenyWriteExecute/m, 'V8 compiles at run time');
  }
});

const HAZARDS = [
  '"',
  "'",
  '\n',
  ';',
  '{',
  '}',
  '\\',
  ' ',
  '=',
  '%',
  '$',
  '#',
  '*',
  ',',
  '/',
  '.',
  '\u2028',
  '\u0000',
  'é',
  'Z',
];
const good = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const names = fc.oneof(
  good,
  fc.stringMatching(/^[a-z_][a-z0-9_-]{0,30}$/),
  fc.tuple(good, fc.constantFrom(...HAZARDS), good).map((parts) => parts.join('')),
  fc.string(),
);

t.test('nothing from a configuration gains a line, a quote or a brace anywhere', async (t) => {
  let accepted = 0;
  fc.assert(
    fc.property(names, names, fc.oneof(good, names), (tenant, runtime, label) => {
      const yaml = JSON.stringify({
        version: 1,
        hosts: { h: { tenants: [tenant] } },
        tenants: { [tenant]: { allow: [`${label}.example.com`], runtimes: [runtime] } },
      });
      let profile: HostProfile;
      try {
        profile = hostProfile(parseConfiguration(yaml, '/c.yaml'), 'h');
      } catch (error) {
        if (error instanceof ConfigurationFailure) return;
        throw error;
      }
      accepted += 1;
      if (!/^[a-z0-9-]+$/.test(tenant) || !/^[a-z0-9_-]+$/.test(runtime))
        throw new Error('an unsafe name was accepted');
      const shape = (text: string) => text.replace(/[^\n"'{};\\%$`|&<>()]/g, '').replaceAll('\\', '');
      const plain = {
        ...profile,
        tenants: profile.tenants.map((all) => ({ ...all, name: 'a', allow: ['e.com'], runtimes: ['r'] })),
      };
      if (shape(contentOf(profile)) !== shape(contentOf(plain))) throw new Error('a name changed the structure');
    }),
    { numRuns: 800 },
  );
  t.ok(accepted > 10, `${accepted} accepted ones were rendered`);
});

t.test('names fit where they go', async (t) => {
  t.match('a'.repeat(28), TENANT_NAME, 'the longest one');
  t.notMatch('a'.repeat(29), TENANT_NAME, 'wt- and 29 more would be longer than a user name may be');
  fc.assert(
    fc.property(fc.stringMatching(TENANT_NAME), (tenant) => {
      if (tenantUser(tenant).length > 32) throw new Error('longer than a user name may be');
      if (/[^\\]-/.test(sliceUnit(tenant).replace('watertight-', ''))) throw new Error('a hyphen would nest the slice');
    }),
  );
});

t.test('the last door before root', async (t) => {
  const tenant = { name: 'acme', allow: ['example.com'], proxy: { address: '127.64.0.9', port: 3128 } };
  for (const runtimes of [['a\nb'], ['ALL'], ['%wheel'], ['#0'], ['a ALL=(ALL) ALL'], ['']]) {
    t.throws(() => renderSudoers({ ...tenant, runtimes }), /not validated/, JSON.stringify(runtimes));
  }
  t.throws(() => renderSudoers({ ...tenant, name: 'a, /bin/sh', runtimes: ['a'] }), /not validated/);
  t.equal(renderSudoers({ ...tenant, runtimes: [] }), null);
});

const VISUDO = '/usr/sbin/visudo';
const noVisudo = await access(VISUDO).then(
  () => false,
  () => 'no visudo here; provision runs it on the host in any case',
);

t.test('visudo accepts what is granted', { skip: noVisudo }, async (t) => {
  const folder = t.testdir({});
  for (const { path, content } of ['three', 'odd'].flatMap(
    (host) => renderHost(hostProfile(FLEET, host)).permissions,
  )) {
    const file = join(folder, path.replaceAll('/', '_'));
    await writeFile(file, content);
    const { stdout } = await promisify(execFile)(VISUDO, ['-cf', file]);
    t.match(stdout, /parsed OK/, path);
  }
});

t.test("the proxy understands every entry that a configuration may hold, in the configuration's sense", async (t) => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
  );
  const odd = fc.constantFrom(
    '_a.example.com',
    'a_b.example.com',
    'bücher.example',
    '1.example.com',
    'a--b.example.com',
    'ß.example',
    'xn--bcher-kva.example',
    '1e100.net',
    'a-.b.c',
  );
  const port = fc.constantFrom('', ':1', ':443', ':8000-8010', ':65535');
  const entry = fc.tuple(fc.constantFrom('', '*.'), fc.oneof(host, odd), port).map((parts) => parts.join(''));
  fc.assert(
    fc.property(entry, (text) => {
      const ours = parseAllowPattern(text);
      if (!ours.ok) return;
      const theirs = parseEntry(ours.pattern.canonical);
      if (!theirs.ok) throw new Error(`the proxy would not start: ${ours.pattern.canonical}: ${theirs.fault}`);
      const { kind, host, ports } = ours.pattern;
      const match = kind === 'subdomains' ? 'below' : 'exact';
      const same =
        theirs.value.host === host &&
        theirs.value.match === match &&
        (theirs.value.kind === 'address') === (kind === 'address');
      if (!same) throw new Error(`the proxy reads it otherwise: ${text}: ${JSON.stringify(theirs.value)}`);
      if (
        theirs.value.ports !== null &&
        JSON.stringify(theirs.value.ports) !== JSON.stringify(ports.map(({ from, to }) => [from, to]))
      )
        throw new Error(`other ports: ${text}`);
    }),
    { numRuns: 1000 },
  );
  for (const { path, content } of renderHost(hostProfile(FLEET, 'three')).files) {
    if (!path.endsWith('policy.json')) continue;
    const { mode, sni, methods, deny, limits } = parsePolicyFile(content, path);
    t.equal(mode, 'enforce', path);
    const configured = {
      sni: 'enforce',
      methods: ['GET', 'HEAD'],
      deny: ['192.0.2.7:8001'],
      limits: { requests_per_second: 50 },
    };
    const none = { sni: undefined, methods: undefined, deny: undefined, limits: undefined };
    t.same({ sni, methods, deny, limits }, path.includes('/beta/') ? configured : none, `${path}: as configured`);
  }
});

t.test('a profile is validated where it is read back', async (t) => {
  const profile = hostProfile(FLEET, 'three');
  const file = renderHost(profile).files.find(({ path }) => path === '/etc/watertight/profile.json')?.content ?? '';
  t.same(parseHostProfile(file), profile, 'as text');
  t.same(parseHostProfile(JSON.parse(file)), profile, 'as data');
  const [first] = profile.tenants;
  const spoiled: readonly (readonly [unknown, string])[] = [
    ['{', 'not JSON'],
    [null, 'nothing'],
    [{ ...profile, version: 2 }, 'another version'],
    [{ ...profile, extra: 1 }, 'an unknown key'],
    [{ ...profile, tenants: [{ ...first, name: 'a"; drop' }] }, 'a name that is none'],
    [{ ...profile, tenants: [{ ...first, runtimes: ['ALL'] }] }, 'a runtime that is none'],
    [{ ...profile, tenants: [{ ...first, allow: [] }] }, 'an empty allowlist'],
    [{ ...profile, tenants: [{ ...first, limits: { connections: 0 } }] }, 'a limit of nothing'],
    [{ ...profile, tenants: [{ ...first, methods: ['CONNECT'] }] }, 'a method that tunnels'],
    [{ ...profile, tenants: [{ ...first, deny: ['*'] }] }, 'a denied host that is none'],
    [{ ...profile, tenants: [{ ...first, sni: 'on' }] }, 'a wish for TLS names that is none'],
    [{ ...profile, tenants: [{ ...first, proxy: { address: '0.0.0.0', port: 3128 } }] }, 'a proxy open to all'],
  ];
  for (const [json, why] of spoiled)
    t.throws(() => parseHostProfile(json), { exit: 78, message: /profile\.json/ }, why);
});

const MISSING = (name: string) => `/srv/fleet/watertight.yaml has no host of that name: "${name}"`;

t.test('a host that is not there', async (t) => {
  t.throws(() => hostProfile(FLEET, 'threee'), new UsageFailure(MISSING('threee'), 'did you mean three?'));
  t.throws(
    () => hostProfile(FLEET, 'constructor'),
    new UsageFailure(MISSING('constructor'), 'one of: one, three, odd'),
  );
});

t.test("an excerpt holds what is shared and what is the tenant's own", async (t) => {
  const profile = hostProfile(FLEET, 'three');
  const { files, permissions } = tenantExcerpt(profile, 'acme');
  const paths = files.map(({ path }) => path);
  t.ok(paths.includes('/etc/systemd/system/watertight-acme.slice'));
  t.ok(paths.includes('/etc/watertight/tenants/acme/policy.json'));
  t.notMatch(paths.join('\n'), /beta|gamma/, "no other tenant's own files");
  t.same(
    permissions.map(({ path }) => path),
    ['/etc/sudoers.d/watertight-acme'],
  );
  t.match(files.find(({ path }) => path.endsWith('.nft'))?.content, /beta_output/, 'the ruleset as the host holds it');
  for (const [kind, count] of Object.entries({
    nft: 1,
    units: 6,
    policy: 1,
    sudoers: 1,
    command: 1,
    profile: 1,
  } as const)) {
    const part = tenantExcerpt(profile, 'acme', kind as 'nft');
    t.equal(part.files.length + part.permissions.length, count, kind);
  }
});
