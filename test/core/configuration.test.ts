import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { parseAllowPattern } from '../../core/configuration/allow-pattern.js';
import { loadConfiguration, parseConfiguration } from '../../core/configuration/load.js';
import { configurationPlaces, readFirst } from '../../core/configuration/places.js';
import { deriveProxyAddress, isProxyAddress, SINK_ADDRESS } from '../../core/configuration/proxy-address.js';
import { CONFIGURATION_SCHEMA } from '../../core/configuration/schema.js';
import { ConfigurationFailure, type ConfigurationProblem, Failure } from '../../core/failure.js';
import { golden } from '../golden.js';

const FILE = '/srv/fleet/watertight.yaml';

function problemsOf(text: string): readonly ConfigurationProblem[] {
  try {
    parseConfiguration(text, FILE, '/home/op');
  } catch (error) {
    if (error instanceof ConfigurationFailure) return error.problems;
    throw error;
  }
  return [];
}

/** A good file; each case below spoils one line of it. */
const GOOD = [
  'version: 1',
  'defaults: { user: ops, become: sudo, identity: ~/.ssh/fleet, known_hosts: keys/known_hosts }',
  'hosts:',
  '  browser-01: { address: 10.98.0.11, port: 2222, tenants: [acme, beta] }',
  '  here: { address: local, become: none, identity: /k, tenants: [acme] }',
  'tenants:',
  '  acme:',
  '    allow: [ "Example.com", "*.docs.example.org", "api.example.net:8443", "EXAMPLE.com" ]',
  '    runtimes: [opencode]',
  '  beta: { allow: ["[2001:DB8:0::1]:443"], proxy: { address: 127.64.0.9, port: 8080 }, sni: off, methods: [GET, HEAD], limits: { connections: 50 }, deny: ["Bad.example", "bad.example"] }',
];

function spoil(line: number, text: string): string {
  return [...GOOD.slice(0, line - 1), text, ...GOOD.slice(line)].join('\n');
}

t.test('a good file becomes hosts and tenants with defaults merged in', async (t) => {
  const { hosts, tenants, path } = parseConfiguration(GOOD.join('\n'), FILE, '/home/op');
  t.equal(path, FILE);
  t.same(hosts.get('browser-01'), {
    name: 'browser-01',
    address: '10.98.0.11',
    port: 2222,
    user: 'ops',
    identity: '/home/op/.ssh/fleet',
    knownHosts: '/srv/fleet/keys/known_hosts',
    become: 'sudo',
    local: false,
    tenants: ['acme', 'beta'],
  });
  t.match(hosts.get('here'), { local: true, become: 'none', identity: '/k' }, 'a host overrides the defaults');
  t.same(tenants.get('acme')?.allow, ['example.com', '*.docs.example.org', 'api.example.net:8443'], 'canonical, once');
  t.same(tenants.get('beta'), {
    name: 'beta',
    allow: ['[2001:db8::1]:443'],
    deny: ['bad.example'],
    limits: { connections: 50 },
    methods: ['GET', 'HEAD'],
    runtimes: [],
    sni: 'off',
    proxy: { address: '127.64.0.9', port: 8080 },
  });
});

interface BadFile {
  readonly why: string;
  readonly text: string;
  readonly at: readonly [line: number, column: number];
  readonly path: string;
  readonly value: string | RegExp;
  readonly expected: RegExp;
}

const BAD_FILES: readonly BadFile[] = [
  {
    why: 'an unknown key is met with the nearest known one',
    text: spoil(9, '    runtime: [opencode]'),
    at: [9, 5],
    path: '/tenants/acme/runtime',
    value: '"runtime"',
    expected: /did you mean runtimes\?/,
  },
  {
    why: 'a mistyped key is not missing besides',
    text: spoil(8, '    alow: [example.com]'),
    at: [8, 5],
    path: '/tenants/acme/alow',
    value: '"alow"',
    expected: /did you mean allow\?/,
  },
  {
    why: 'also where the file begins',
    text: spoil(6, 'tenant:'),
    at: [6, 1],
    path: '/tenant',
    value: '"tenant"',
    expected: /did you mean tenants\?/,
  },
  {
    why: 'a key like no other is met with all of them',
    text: spoil(1, 'version: 1\nzzzzzzzz: {}'),
    at: [2, 1],
    path: '/zzzzzzzz',
    value: '"zzzzzzzz"',
    expected: /one of the keys version, defaults, hosts, tenants/,
  },
  {
    why: 'an empty allowlist does nothing, silently',
    text: spoil(8, '    allow: []'),
    at: [8, 12],
    path: '/tenants/acme/allow',
    value: '[]',
    expected: /at least one/,
  },
  {
    why: 'a tenant name that would end an nft string',
    text: spoil(10, '  "a\\"; drop": { allow: [example.com] }'),
    at: [10, 3],
    path: '/tenants/a\\"; drop',
    value: '"a\\"; drop"',
    expected: /a tenant name: a lower-case letter/,
  },
  {
    why: 'a tenant name longer than a user name may be',
    text: spoil(10, `  ${'b'.repeat(29)}: { allow: [example.com] }`),
    at: [10, 3],
    path: `/tenants/${'b'.repeat(29)}`,
    value: `"${'b'.repeat(29)}"`,
    expected: /28 characters/,
  },
  {
    why: 'an allowlist entry with a scheme says so',
    text: spoil(8, '    allow:\n      - example.com\n      - https://example.com'),
    at: [10, 9],
    path: '/tenants/acme/allow/1',
    value: '"https://example.com"',
    expected: /without a scheme/,
  },
  {
    why: 'an entry of another type',
    text: spoil(8, '    allow: [ example.com, 80 ]'),
    at: [8, 27],
    path: '/tenants/acme/allow/1',
    value: '80',
    expected: /an entry like "example.com"/,
  },
  {
    why: 'two tenants of one name',
    text: spoil(10, '  beta: { allow: [example.com] }\n  acme: { allow: [example.org] }'),
    at: [11, 3],
    path: '',
    value: '"acme"',
    expected: /each key once/,
  },
  {
    why: 'a host that names a tenant that is not there',
    text: spoil(4, '  browser-01: { tenants: [acme, bata] }'),
    at: [4, 33],
    path: '/hosts/browser-01/tenants/1',
    value: '"bata"',
    expected: /did you mean beta\?/,
  },
  {
    why: 'a tenant named like a property of every JavaScript object',
    text: spoil(4, '  browser-01: { tenants: [constructor] }'),
    at: [4, 27],
    path: '/hosts/browser-01/tenants/0',
    value: '"constructor"',
    expected: /one of the tenants acme, beta/,
  },
  {
    why: 'one tenant twice on a host',
    text: spoil(4, '  browser-01: { tenants: [acme, acme] }'),
    at: [4, 26],
    path: '/hosts/browser-01/tenants',
    value: '["acme","acme"]',
    expected: /each once/,
  },
  {
    why: 'two tenants of one host at one address: layer 3 could not tell them apart',
    text: spoil(9, `    proxy: { address: ${deriveProxyAddress('beta')} }`).replace(
      'proxy: { address: 127.64.0.9, port: 8080 }',
      'runtimes: []',
    ),
    at: [4, 66],
    path: '/hosts/browser-01/tenants/1',
    value: `"${deriveProxyAddress('beta')}"`,
    expected: /tenant acme of the same host does not have/,
  },
  {
    why: 'a proxy where every local service would be open at layer 3',
    text: spoil(10, '  beta: { allow: [example.com], proxy: { address: 127.0.0.1 } }'),
    at: [10, 51],
    path: '/tenants/beta/proxy/address',
    value: '"127.0.0.1"',
    expected: /127\.64\.0\.0\/10/,
  },
  {
    why: 'another version',
    text: spoil(1, 'version: 2'),
    at: [1, 10],
    path: '/version',
    value: '2',
    expected: /version 1/,
  },
  {
    why: 'a port out of range',
    text: spoil(4, '  browser-01: { port: 65536, tenants: [acme] }'),
    at: [4, 23],
    path: '/hosts/browser-01/port',
    value: '65536',
    expected: /between 1 and 65535/,
  },
  {
    why: 'a host name that a program would read as an option',
    text: spoil(5, '  -oProxyCommand=x: { tenants: [acme] }'),
    at: [5, 3],
    path: '/hosts/-oProxyCommand=x',
    value: '"-oProxyCommand=x"',
    expected: /a host name/,
  },
  {
    why: 'an address that a program would read as an option',
    text: spoil(5, '  here: { address: -oProxyCommand=x, tenants: [acme] }'),
    at: [5, 20],
    path: '/hosts/here/address',
    value: '"-oProxyCommand=x"',
    expected: /a host name or an address/,
  },
  {
    why: 'a missing key stands where the mapping does',
    text: spoil(4, '  browser-01: { port: 22 }'),
    at: [4, 15],
    path: '/hosts/browser-01',
    value: '{"port":22}',
    expected: /the key tenants/,
  },
  {
    why: 'a runtime that sudoers would read as a group',
    text: spoil(9, '    runtimes: ["%wheel"]'),
    at: [9, 16],
    path: '/tenants/acme/runtimes/0',
    value: '"%wheel"',
    expected: /a Unix user/,
  },
  {
    why: 'a confined user that may launch is not confined',
    text: spoil(9, '    runtimes: [wt-acme]'),
    at: [9, 16],
    path: '/tenants/acme/runtimes/0',
    value: '"wt-acme"',
    expected: /not root, watertight or wt-/,
  },
  {
    why: 'a wish for TLS names that is none',
    text: spoil(9, '    sni: on'),
    at: [9, 10],
    path: '/tenants/acme/sni',
    value: '"on"',
    expected: /enforce, report or off/,
  },
  {
    why: 'a limit of nothing',
    text: spoil(9, '    limits: { requests_per_second: 0 }'),
    at: [9, 36],
    path: '/tenants/acme/limits/requests_per_second',
    value: '0',
    expected: /a whole number/,
  },
  {
    why: 'a method that tunnels',
    text: spoil(9, '    methods: [GET, CONNECT]'),
    at: [9, 20],
    path: '/tenants/acme/methods/1',
    value: '"CONNECT"',
    expected: /a method in capitals/,
  },
  {
    why: 'a denied host that is none',
    text: spoil(9, '    deny: ["https://x.example"]'),
    at: [9, 12],
    path: '/tenants/acme/deny/0',
    value: '"https://x.example"',
    expected: /without a scheme/,
  },
  {
    why: 'a list where a mapping should be',
    text: spoil(10, '  beta: [example.com]'),
    at: [10, 9],
    path: '/tenants/beta',
    value: '["example.com"]',
    expected: /a tenant: a mapping/,
  },
  {
    why: 'a value that came through an alias is shown where the alias stands',
    text: spoil(10, '  beta: { allow: &list [example.com], runtimes: [UPPER] }'),
    at: [10, 50],
    path: '/tenants/beta/runtimes/0',
    value: '"UPPER"',
    expected: /a Unix user/,
  },
  {
    why: 'broken YAML',
    text: spoil(8, '    allow: [ "example.com'),
    at: [8, 26],
    path: '',
    value: '',
    expected: /^the closing " of a text/,
  },
  { why: 'an empty file', text: '', at: [1, 1], path: '', value: 'null', expected: /a mapping with version/ },
  {
    why: 'a billion laughs',
    text: [
      'version: 1',
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]',
      'c: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]',
    ].join('\n'),
    at: [3, 8],
    path: '',
    value: '"*a"',
    expected: /a few aliases/,
  },
  {
    why: 'an alias to what it stands in is a circle',
    text: 'version: 1\nhosts: &a { x: *a }\n',
    at: [2, 16],
    path: '',
    value: '"*a"',
    expected: /a few aliases/,
  },
  {
    why: 'a control character in a value does not reach the terminal',
    text: spoil(8, '    allow: [ "a\\e[31m.example" ]'),
    at: [8, 14],
    path: '/tenants/acme/allow/0',
    value: '"a\\u001b[31m.example"',
    expected: /no invisible characters/,
  },
];

t.test('every mistake is said at its place, with exit 78', async (t) => {
  for (const { why, text, at, path, value, expected } of BAD_FILES) {
    const problems = problemsOf(text);
    t.equal(problems.length, 1, `${why}: one problem`);
    t.match(problems[0], { file: FILE, line: at[0], column: at[1], path, value, expected }, why);
  }
  t.throws(() => parseConfiguration('', FILE), { exit: 78, message: `${FILE}:1:1: null: expected a mapping` });
});

t.test('what is no YAML is said in words of a configuration', async (t) => {
  const table: readonly (readonly [text: string, says: string])[] = [
    ['a: [x\nb: 1', '2:1: expected the closing ] of a list that begins before this place'],
    ['a: {x: 1\nb: 1', '2:1: expected the closing } of a mapping that begins before this place'],
    ['{a: 1, b', '1:9: expected the closing } of a mapping that begins before this place'],
    ["a: 'x", "1:6: expected the closing ' of a text that begins before this place"],
    ['a:\n  - x\n b: 1', '3:1: expected each key of a mapping at the same column'],
    ['a:\n  - x\n - y', '3:1: expected each - of a list at the same column'],
    ['  - x\n - y', '2:2: expected each - of a list at the same column'],
    ['a:\n\tb: 1', '2:1: expected blanks before the first word of a line, not a tab'],
    ['a: b: c', '1:4: "b": expected one "key: value" a line; a value with ": " in it stands in quotes'],
    ['a: 1\nb:1\nc: 2', '2:1: "b": expected "key: value" with a blank after the colon'],
    ['a: @x', '1:4: "@x": expected a value in quotes, since YAML keeps its first character for itself'],
    ['a: 1\n---\nb: 2', '2:1: "---": expected one document'],
    ['a: !foo x', '1:4: "!foo x": expected valid YAML (Unresolved tag: !foo)'],
  ];
  for (const [text, says] of table) {
    t.throws(() => parseConfiguration(text, FILE), { exit: 78, message: `${FILE}:${says}` }, JSON.stringify(text));
    t.notMatch(problemsOf(text)[0]?.expected, /Flow|block/i, 'no words of a YAML reader');
  }
});

t.test('all mistakes at once, in the order of the file', async (t) => {
  const text = [
    'version: 3',
    'hosts: { a: { tenants: [], prot: 1 } }',
    'tenants: { x: { allow: ["*"] }, x: { allow: [] } }',
  ].join('\n');
  t.same(
    problemsOf(text).map(({ line, path }) => [line, path]),
    [
      [1, '/version'],
      [2, '/hosts/a/tenants'],
      [2, '/hosts/a/prot'],
      [3, ''],
      [3, '/tenants/x/allow'],
    ],
  );
});

t.test('no text crashes the reader', async () => {
  const fragment = fc.constantFrom(
    ...GOOD,
    '  ',
    '- ',
    '&a ',
    '*a',
    '<<: *a',
    '? [a]',
    ': ',
    '!!set ',
    '|',
    '"',
    '{',
    '}',
    '---',
    '%',
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fragment, fc.string()), { maxLength: 12 }),
      fc.constantFrom('\n', ''),
      (parts, glue) => {
        for (const problem of problemsOf(parts.join(glue))) {
          if (problem.line < 1 || problem.column < 1) throw new Error('a problem without a place');
          if (/[\u0000-\u001f]/.test(problem.path + problem.value)) throw new Error('a control character in a message');
        }
      },
    ),
    { numRuns: 300 },
  );
});

t.test('where the file is looked for', async (t) => {
  t.same(
    configurationPlaces({ WATERTIGHT_CONFIG: '/x.yaml' }),
    ['/x.yaml'],
    'a file named on purpose is the only place',
  );
  t.equal(configurationPlaces({})[0], join(process.cwd(), 'watertight.yaml'), 'the folder one stands in comes first');
  t.equal(configurationPlaces({}).at(-1), '/var/lib/watertight-lab/lab/watertight.yaml', 'the default lab comes last');
  const folder = t.testdir({ 'b.yaml': GOOD.join('\n'), 'bad.yaml': 'version: 1', sub: {} });
  const second = join(folder, 'b.yaml');
  t.equal((await readFirst([join(folder, 'a.yaml'), join(second, 'x'), second])).path, second);
  t.equal((await loadConfiguration(second)).path, second);
  await t.rejects(loadConfiguration(join(folder, 'bad.yaml')), ConfigurationFailure);
  await t.rejects(readFirst([join(folder, 'a'), join(folder, 'b')]), {
    exit: 78,
    message: `no configuration found; looked in:\n  ${join(folder, 'a')}\n  ${join(folder, 'b')}`,
    fix: /lab up/,
  });
  await t.rejects(readFirst([join(folder, 'sub'), second]), { constructor: Failure, exit: 78, message: /cannot read/ });
});

t.test('allowlist entries that are understood', async (t) => {
  const table: readonly (readonly [entry: string, canonical: string, kind: string, why: string])[] = [
    ['Example.COM', 'example.com', 'name', 'names have no case'],
    ['*.docs.example.org', '*.docs.example.org', 'subdomains', 'every name below'],
    ['api.example.net:8443', 'api.example.net:8443', 'name', 'one port'],
    ['example.com:8000-8010', 'example.com:8000-8010', 'name', 'a range of ports'],
    ['bücher.example', 'xn--bcher-kva.example', 'name', 'IDNA'],
    ['_dmarc.example.com', '_dmarc.example.com', 'name', 'underscores are in use'],
    ['192.0.2.7:443', '192.0.2.7:443', 'address', 'an address written out'],
    ['[2001:DB8:0:0::1]:443', '[2001:db8::1]:443', 'address', 'one spelling of an IPv6 address'],
  ];
  for (const [entry, canonical, kind, why] of table) {
    t.match(parseAllowPattern(entry), { ok: true, pattern: { canonical, kind } }, `${entry}: ${why}`);
  }
});

t.test('allowlist entries that are refused, each for its own reason', async (t) => {
  const table: readonly (readonly [entry: string, reason: RegExp])[] = [
    ['', /empty/],
    ['*', /every host/],
    ['*.com', /top-level domain/],
    ['*.*.example.com', /at the beginning only/],
    ['a*.example.com', /at the beginning only/],
    ['*example.com', /at the beginning only/],
    ['https://example.com', /without a scheme/],
    ['example.com/path', /without a path/],
    ['example.com?x', /without a path/],
    ['user@example.com', /user information/],
    ['exa mple.com', /no spaces/],
    ['example.com\n', /no spaces/],
    ['example\u200b.com', /invisible/],
    ['example.com"; drop', /no spaces/],
    ['example.com";drop', /only letters/],
    ['example.com.', /dot at its end/],
    ['.example.com', /labels/],
    ['a..example.com', /labels/],
    ['-a.example.com', /labels/],
    [`${'a'.repeat(64)}.example.com`, /labels/],
    [`${'a.'.repeat(126)}example`, /253/],
    ['xn--a.example', /labels/],
    ['localhost', /with a dot/],
    ['example.com:0', /between 1 and 65535/],
    ['example.com:65536', /between 1 and 65535/],
    ['example.com:080', /between 1 and 65535/],
    ['example.com:', /between 1 and 65535/],
    ['example.com:http', /between 1 and 65535/],
    ['example.com:90-80', /lower one/],
    ['2001:db8::1', /brackets/],
    ['[2001:db8::1', /brackets/],
    ['[[2001:db8::1]]', /brackets/],
    ['[192.0.2.7]', /IPv6 address/],
    ['[example.com]', /IPv6 address/],
    ['[]', /IPv6 address/],
    ['2130706433', /written out in full/],
    ['0x7f.1', /written out in full/],
    ['127.1', /written out in full/],
    ['0177.0.0.1', /written out in full/],
    ['１２７.0.0.1', /written out in full/],
    ['*.192.0.2.7', /no subdomains/],
    ['10.0.0.0/8', /without a path/],
    ['x.sink.watertight.invalid', /verification/],
    ['*.watertight.invalid', /verification/],
  ];
  for (const [entry, reason] of table) t.match(parseAllowPattern(entry), { ok: false, reason }, JSON.stringify(entry));
});

t.test('whatever is accepted has one harmless canonical spelling', async () => {
  const parts = fc.array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'example',
        '.',
        '*',
        '*.',
        ':',
        '80',
        '-',
        '[',
        ']',
        '::1',
        '"',
        '\n',
        'ü',
        '１',
        '_',
        'xn--',
      ),
      fc.string(),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        parts.map((all) => all.join('')),
        fc.domain(),
        fc.ipV4(),
        fc.ipV6(),
      ),
      (entry) => {
        const result = parseAllowPattern(entry);
        if (!result.ok) return;
        const { canonical } = result.pattern;
        if (!/^(?:\*\.)?[a-z0-9._[\]:-]+$/.test(canonical)) throw new Error(`unsafe: ${canonical}`);
        const again = parseAllowPattern(canonical);
        if (!again.ok || again.pattern.canonical !== canonical) throw new Error(`not canonical: ${canonical}`);
      },
    ),
    { numRuns: 2000 },
  );
});

t.test('every tenant has a loopback address of its own range', async (t) => {
  fc.assert(fc.property(fc.string(), (tenant) => isProxyAddress(deriveProxyAddress(tenant))));
  t.equal(deriveProxyAddress('acme'), deriveProxyAddress('acme'), 'it stays the same');
  t.notOk(isProxyAddress(SINK_ADDRESS), 'never where the sinks listen');
  for (const bad of [
    '127.64.0.0',
    '127.64.0.255',
    '127.63.0.1',
    '127.128.0.1',
    '127.064.0.1',
    '10.64.0.1',
    '127.64.0.1 ',
    '',
  ]) {
    t.notOk(isProxyAddress(bad), bad);
  }
});

t.test('the published schema is the one that is used', async (t) => {
  const text = `${JSON.stringify(CONFIGURATION_SCHEMA, null, 2)}\n`;
  t.equal(golden('docs/configuration.schema.json', text), text);
});
