import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { parseAllowPattern } from '../../../core/configuration/allow-pattern.js';
import { canonicalHost, parseAuthority } from '../../../host/egress-proxy/authority.js';
import { decide } from '../../../host/egress-proxy/decide.js';
import { parseEntry } from '../../../host/egress-proxy/entry.js';
import { inheritedDescriptors } from '../../../host/egress-proxy/inherited.js';
import { ownAddresses } from '../../../host/egress-proxy/own-addresses.js';
import { compilePolicy, missingPolicy } from '../../../host/egress-proxy/policy.js';
import { type PolicyFile, parsePolicyFile } from '../../../host/egress-proxy/policy-file.js';
import { DEFAULT_PORTS } from '../../../host/egress-proxy/ports.js';
import { REASONS } from '../../../host/egress-proxy/reasons.js';
import { policyFile } from './support.js';

/** As the wire gives it: one character a byte. */
const wire = (text: string): string => Buffer.from(text).toString('latin1');

t.test('authorities', (t) => {
  const good: readonly [text: string, host: string, port: number, why: string][] = [
    ['example.com:443', 'example.com', 443, 'plain'],
    ['EXAMPLE.Com:443', 'example.com', 443, 'case'],
    ['example.com.:443', 'example.com', 443, 'one trailing dot'],
    ['example.com', 'example.com', 80, 'the default port'],
    ['a-b.c_d.example:1', 'a-b.c_d.example', 1, 'hyphen and underscore inside'],
    ['_dmarc.example.com:1', '_dmarc.example.com', 1, 'underscore first'],
    ['1.example.com:65535', '1.example.com', 65535, 'a label of digits that is not the last'],
    ['1e100.net:443', '1e100.net', 443, 'digits first'],
    ['xn--bcher-kva.example:443', 'xn--bcher-kva.example', 443, 'IDNA in ASCII'],
    ['bücher.example:443', 'xn--bcher-kva.example', 443, 'IDNA in Unicode'],
    ['BÜCHER.example:443', 'xn--bcher-kva.example', 443, 'IDNA and case'],
    ['ｅｘａｍｐｌｅ.com:443', 'example.com', 443, 'full-width letters are the same name'],
    ['example。com:443', 'example.com', 443, 'an ideographic full stop is a dot'],
    ['a\u00ad.com\u200b:443', 'a.com', 443, 'hidden characters, which UTS 46 drops'],
    ['localhost:80', 'localhost', 80, 'a single label'],
    ['93.184.216.34:443', '93.184.216.34', 443, 'an address'],
    ['[2606:2800::1]:443', '2606:2800::1', 443, 'IPv6'],
    ['[2606:2800:0:0:0:0:0:1]:443', '2606:2800::1', 443, 'IPv6 written out'],
    ['[::FFFF:1.2.3.4]:443', '::ffff:102:304', 443, 'IPv4-mapped'],
  ];
  for (const [text, host, port, why] of good) {
    const parsed = parseAuthority(wire(text), 80);
    const value = parsed.ok ? parsed.value : null;
    t.equal(value?.host.kind === 'name' ? value.host.name : value?.host.address, host, `${why}: ${text}`);
    t.equal(value?.port, port, why);
  }
  const bad: readonly [text: string, fault: string, why: string][] = [
    ['', 'authority-invalid', 'nothing'],
    [':443', 'authority-invalid', 'no host'],
    ['a:b:c', 'port-invalid', 'two colons'],
    ['::1', 'authority-invalid', 'IPv6 without brackets'],
    ['[::1', 'authority-invalid', 'an open bracket'],
    ['::1]:443', 'authority-invalid', 'a closing bracket alone'],
    ['[::1]443', 'authority-invalid', 'no colon behind the bracket'],
    ['[::1]x:443', 'authority-invalid', 'text behind the bracket'],
    ['[[::1]]:443', 'authority-invalid', 'double brackets'],
    ['[]:443', 'name-invalid', 'empty brackets'],
    ['[example.com]:443', 'name-invalid', 'a name in brackets'],
    ['[127.0.0.1]:443', 'name-invalid', 'IPv4 in brackets'],
    ['[v1.x]:443', 'name-invalid', 'IPvFuture'],
    ['[fe80::1%eth0]:443', 'name-invalid', 'a zone'],
    ['u@example.com:443', 'authority-userinfo', 'user information'],
    ['example.com@evil.test', 'authority-userinfo', 'user information that looks like a host'],
    ['u:p@example.com:443', 'authority-userinfo', 'with a password'],
    ['example.com:', 'port-invalid', 'an empty port'],
    ['example.com:0', 'port-invalid', 'port 0'],
    ['example.com:65536', 'port-invalid', 'one too many'],
    ['example.com:99999', 'port-invalid', 'far too many'],
    ['example.com:080', 'port-invalid', 'a leading zero'],
    ['example.com:-1', 'port-invalid', 'a sign'],
    ['example.com:4e2', 'port-invalid', 'an exponent'],
    ['example.com: 443', 'port-invalid', 'a space'],
    ['example.com:４４３', 'port-invalid', 'full-width digits'],
    ['example.com..:443', 'name-invalid', 'two trailing dots'],
    ['.:443', 'name-invalid', 'the root'],
    ['.example.com:443', 'name-invalid', 'an empty label'],
    ['a..b:443', 'name-invalid', 'an empty label inside'],
    ['-a.com:443', 'name-invalid', 'a hyphen first'],
    ['a-.com:443', 'name-invalid', 'a hyphen last'],
    [`${'a'.repeat(64)}.com:443`, 'name-invalid', 'a long label'],
    [`${'a.'.repeat(127)}com:443`, 'name-invalid', 'a long name'],
    ['exa mple.com:443', 'name-invalid', 'a space'],
    ['example.com\0.evil:443', 'name-invalid', 'NUL'],
    ['example.com%00:443', 'name-invalid', 'an escaped NUL'],
    ['%6cocalhost:443', 'name-invalid', 'an escape'],
    ['example.com/x:443', 'name-invalid', 'a path'],
    ['example.com\\x:443', 'name-invalid', 'a backslash'],
    ['example.com#x:443', 'name-invalid', 'a fragment'],
    ['*.example.com:443', 'name-invalid', 'a wildcard'],
    ['xn--a:443', 'name-invalid', 'broken punycode'],
    ['127\u00ad.0.0.\u200b1:443', 'address-spelling', 'hidden characters in an address'],
    ['127.1:443', 'address-spelling', 'a short form'],
    ['127.0.1:443', 'address-spelling', 'a short form'],
    ['0:443', 'address-spelling', 'zero'],
    ['2130706433:443', 'address-spelling', 'decimal'],
    ['0x7f000001:443', 'address-spelling', 'hex'],
    ['0x7f.1:443', 'address-spelling', 'hex and short'],
    ['0X7F.0.0.1:443', 'address-spelling', 'upper-case hex'],
    ['0x:443', 'address-spelling', 'hex without digits is 0'],
    ['0177.0.0.1:443', 'address-spelling', 'octal'],
    ['017700000001:443', 'address-spelling', 'octal, whole'],
    ['127.0.0.01:443', 'address-spelling', 'a leading zero'],
    ['127.0.0.1.:443', 'address-spelling', 'a trailing dot'],
    ['127.0.0.08:443', 'address-spelling', 'no octal, no name'],
    ['1.2.3.4.5:443', 'address-spelling', 'five parts'],
    ['256.256.256.256:443', 'address-spelling', 'too large'],
    ['4294967296:443', 'address-spelling', 'too large, whole'],
    ['foo.1:443', 'address-spelling', 'a number at the end'],
    ['foo.0x1:443', 'address-spelling', 'hex at the end'],
    ['１２７.0.0.1:443', 'address-spelling', 'full-width digits'],
    ['①②⑦.0.0.1:443', 'address-spelling', 'circled digits'],
    ['127。0。0。1:443', 'address-spelling', 'ideographic full stops'],
    ['²130706433:443', 'address-spelling', 'a superscript digit'],
    ['𝟏𝟐𝟕.0.0.1:443', 'address-spelling', 'mathematical digits'],
  ];
  for (const [text, fault, why] of bad) {
    const parsed = parseAuthority(wire(text), null);
    t.equal(parsed.ok ? 'ok' : parsed.fault, fault, `${why}: ${JSON.stringify(text).slice(0, 60)}`);
  }
  const broken = parseAuthority('\xff\xfe.com:443', null);
  t.equal(broken.ok ? 'ok' : broken.fault, 'name-invalid', 'not UTF-8');
  const portless = parseAuthority('example.com', null);
  t.equal(portless.ok ? 'ok' : portless.fault, 'port-missing');

  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const parsed = parseAuthority(wire(text), null);
      if (!parsed.ok) return true;
      const { host, port } = parsed.value;
      const again = canonicalHost(
        host.kind === 'name' ? host.name : host.address.includes(':') ? `[${host.address}]` : host.address,
      );
      return port >= 1 && port <= 65535 && again.ok && JSON.stringify(again.value) === JSON.stringify(host);
    }),
    { numRuns: 2000 },
  );
  t.pass('any text: no throw, and what is canonical stays as it is');
  t.end();
});

const acme = policyFile({
  allow: [
    'example.com',
    '*.docs.example.org',
    'api.example.net:8443',
    'dev.example.net:8000-8010',
    'multi.example:80',
    'multi.example:9000',
    'Bücher.example',
    'trusted.net',
    '93.184.216.34:443',
    '[2606:2800::1]',
    '10.0.0.5',
    '*.wide.example',
  ],
  deny: ['bad.docs.example.org', '*.evil.wide.example', 'port.wide.example:443'],
  pins: [{ name: '*.sink.watertight.invalid', address: '127.63.0.1', ports: [80, 443] }],
});

type Row = readonly [authority: string, reason: string, rule: string, why: string];

const ROWS: readonly Row[] = [
  ['example.com:443', 'allowed', 'example.com', 'exact, default port'],
  ['example.com:80', 'allowed', 'example.com', 'exact, default port'],
  ['EXAMPLE.COM.:443', 'allowed', 'example.com', 'case and trailing dot'],
  ['example.com:8443', 'port-not-listed', '', 'another port'],
  ['www.example.com:443', 'not-listed', '', 'an exact entry holds no names below'],
  ['notexample.com:443', 'not-listed', '', 'a longer name'],
  ['nottrusted.net:443', 'not-listed', '', 'suffix over-match'],
  ['trusted.net.evil.test:443', 'not-listed', '', 'prefix over-match'],
  ['a.docs.example.org:443', 'allowed', '*.docs.example.org', 'below'],
  ['a.b.c.docs.example.org:443', 'allowed', '*.docs.example.org', 'any depth'],
  ['docs.example.org:443', 'not-listed', '', 'not the apex'],
  ['xdocs.example.org:443', 'not-listed', '', 'not a label boundary'],
  ['bad.docs.example.org:443', 'deny-listed', 'bad.docs.example.org', 'deny wins'],
  ['bad.docs.example.org:22', 'deny-listed', 'bad.docs.example.org', 'deny without a port is every port'],
  ['x.evil.wide.example:443', 'deny-listed', '*.evil.wide.example', 'deny below'],
  ['evil.wide.example:443', 'allowed', '*.wide.example', 'deny below is not the apex either'],
  ['port.wide.example:443', 'deny-listed', 'port.wide.example:443', 'deny of one port'],
  ['port.wide.example:80', 'allowed', '*.wide.example', 'and of no other'],
  ['api.example.net:8443', 'allowed', 'api.example.net:8443', 'its port'],
  ['api.example.net:443', 'port-not-listed', '', 'a named port replaces the default ones'],
  ['dev.example.net:8000', 'allowed', 'dev.example.net:8000-8010', 'a range, its start'],
  ['dev.example.net:8010', 'allowed', 'dev.example.net:8000-8010', 'a range, its end'],
  ['dev.example.net:8011', 'port-not-listed', '', 'beyond it'],
  ['multi.example:80', 'allowed', 'multi.example:80', 'two entries for a name'],
  ['multi.example:9000', 'allowed', 'multi.example:9000', 'the second one'],
  ['xn--bcher-kva.example:443', 'allowed', 'Bücher.example', 'IDNA'],
  ['93.184.216.34:443', 'allowed', '93.184.216.34:443', 'an address written out'],
  ['93.184.216.34:80', 'port-not-listed', '', 'its other port'],
  ['93.184.216.35:443', 'address-not-listed', '', 'another address'],
  ['[2606:2800:0::1]:443', 'allowed', '[2606:2800::1]', 'IPv6 in another spelling'],
  ['10.0.0.5:443', 'address-forbidden', '10.0.0.0/8', 'a private address, even when listed'],
  ['10.0.0.6:443', 'address-not-listed', '', 'a private address'],
  ['n1.sink.watertight.invalid:443', 'pinned', 'pin *.sink.watertight.invalid', 'a pin'],
  ['n1.sink.watertight.invalid:8080', 'not-listed', '', 'a pin and another port'],
  ['sink.watertight.invalid:443', 'not-listed', '', 'the apex of a pin'],
  ['127.63.0.1:443', 'address-not-listed', '', 'the address of a pin'],
  ['n.unlisted.watertight.invalid:443', 'not-listed', '', 'the name that is never listed'],
  ['localhost:80', 'not-listed', '', 'localhost'],
];

const PUBLIC = ['93.184.216.34', '2606:2800::1'];

async function decideOn(
  file: PolicyFile,
  authority: string,
  answers: readonly string[] = PUBLIC,
  own: string[] = [],
  method = 'CONNECT',
) {
  const parsed = parseAuthority(wire(authority), null);
  if (!parsed.ok) throw new Error(authority);
  const asked: string[] = [];
  const decision = await decide(parsed.value, method, compilePolicy(file), {
    lookup: async (name) => {
      asked.push(name);
      return answers;
    },
    isOwn: (address) => own.includes(address),
    resolveMs: 1000,
  });
  return { decision, asked };
}

t.test('decisions, each with its reason', async (t) => {
  for (const [authority, reason, rule, why] of ROWS) {
    const { decision, asked } = await decideOn(acme, authority);
    t.match(decision, { reason, rule }, `${authority}: ${why}`);
    t.equal(decision.kind, reason === 'allowed' || reason === 'pinned' ? 'route' : 'stop', authority);
    if (decision.kind === 'stop' || reason === 'pinned') t.same(asked, [], `${authority}: no DNS query`);
  }
  const pinned = (await decideOn(acme, 'n1.sink.watertight.invalid:80')).decision;
  t.same(pinned.kind === 'route' ? pinned.addresses : null, ['127.63.0.1']);
});

t.test('answers of DNS', async (t) => {
  const table: readonly [answers: string[], own: string[], reason: string, rule: string, why: string][] = [
    [PUBLIC, [], 'allowed', 'example.com', 'all public'],
    [['93.184.216.34', '10.0.0.1'], [], 'address-forbidden', '10.0.0.0/8', 'a mixed answer'],
    [['10.0.0.1', '93.184.216.34'], [], 'address-forbidden', '10.0.0.0/8', 'the other way round'],
    [['100.64.0.1'], [], 'address-forbidden', '100.64.0.0/10', 'carrier-grade NAT'],
    [['93.184.216.34', '::1'], [], 'address-forbidden', '::1/128', 'IPv6 loopback'],
    [['fe80::1%eth0'], [], 'address-forbidden', 'unreadable', 'a zone'],
    [['not an address'], [], 'address-forbidden', 'unreadable', 'rubbish'],
    [['93.184.216.34'], ['93.184.216.34'], 'address-own', '', 'this host'],
    [[], [], 'resolve-failed', 'example.com', 'no answer'],
  ];
  for (const [answers, own, reason, rule, why] of table) {
    t.match((await decideOn(acme, 'example.com:443', answers, own)).decision, { reason, rule }, why);
  }
  t.match(
    await decide({ host: { kind: 'name', name: 'example.com' }, port: 443 }, 'CONNECT', compilePolicy(acme), {
      lookup: async () => PUBLIC,
      isOwn: () => null,
      resolveMs: 1000,
    }),
    { kind: 'stop', reason: 'own-addresses-unknown' },
    'own addresses that cannot be told deny',
  );
});

t.test('methods of plain HTTP', async (t) => {
  const file: PolicyFile = { ...acme, methods: ['GET', 'HEAD'] };
  const table: readonly [method: string, authority: string, mode: 'enforce' | 'report', reason: string, why: string][] =
    [
      ['GET', 'example.com:80', 'enforce', 'allowed', 'a listed one'],
      ['POST', 'example.com:80', 'enforce', 'method-not-listed', 'another'],
      ['get', 'example.com:80', 'enforce', 'method-not-listed', 'methods are told apart by case'],
      ['CONNECT', 'example.com:443', 'enforce', 'allowed', 'a tunnel has none that could be seen'],
      ['POST', 'no.test:80', 'enforce', 'not-listed', 'the name is judged first'],
      ['POST', 'n1.sink.watertight.invalid:80', 'enforce', 'pinned', "a pin is verification's own"],
      ['POST', 'example.com:80', 'report', 'report-method-not-listed', 'reported'],
      ['POST', 'no.test:80', 'report', 'report-method-not-listed', 'reported, whatever the name'],
      ['POST', '93.184.216.35:80', 'report', 'address-not-listed', 'addresses stay shut'],
    ];
  for (const [method, authority, mode, reason, why] of table) {
    const { decision, asked } = await decideOn({ ...file, mode }, authority, PUBLIC, [], method);
    t.match(decision, { reason }, why);
    if (reason === 'method-not-listed') t.same(asked, [], `${why}: no DNS query`);
  }
  t.match(
    (await decideOn(acme, 'example.com:80', PUBLIC, [], 'DELETE')).decision,
    { reason: 'allowed' },
    'none named: all',
  );
});

t.test('report mode lets names pass and says what would have been; addresses stay shut', async (t) => {
  const file = { ...acme, mode: 'report' as const };
  const table: readonly [authority: string, kind: string, reason: string][] = [
    ['no.test:443', 'route', 'report-not-listed'],
    ['example.com:8443', 'route', 'report-port-not-listed'],
    ['bad.docs.example.org:443', 'route', 'report-deny-listed'],
    ['93.184.216.35:443', 'stop', 'address-not-listed'],
    ['example.com:443', 'route', 'allowed'],
  ];
  for (const [authority, kind, reason] of table) {
    t.match((await decideOn(file, authority)).decision, { kind, reason }, authority);
  }
  t.match((await decideOn(file, 'no.test:443', ['10.1.2.3'])).decision, { kind: 'stop', reason: 'address-forbidden' });
  t.match(compilePolicy(file).warnings.join('\n'), /PASS/);
});

t.test('empty and missing policies', async (t) => {
  t.match((await decideOn(policyFile({}), 'example.com:443')).decision, { kind: 'stop', reason: 'policy-empty' });
  const missing = missingPolicy('gone');
  t.match(missing.decide({ kind: 'name', name: 'example.com' }, 443), { verdict: 'deny', reason: 'policy-missing' });
  t.match(missing.warnings.join(), /denied/);
  t.match(compilePolicy(policyFile({ allow: ['*.com', '10.1.1.1'] })).warnings, [/top-level/, /no effect/]);
});

t.test('a hundred thousand entries decide like ten', (t) => {
  const allow = Array.from({ length: 100_000 }, (_, index) => `${index % 2 ? '*.' : ''}host${index}.example`);
  const policy = compilePolicy(policyFile({ allow }));
  t.match(policy.decide({ kind: 'name', name: 'a.b.host99999.example' }, 443), { rule: '*.host99999.example' });
  t.match(policy.decide({ kind: 'name', name: 'host99998.example' }, 443), { rule: 'host99998.example' });
  t.match(policy.decide({ kind: 'name', name: 'host99999.example' }, 443), { reason: 'not-listed' });
  t.end();
});

t.test('policy files', (t) => {
  t.same(parsePolicyFile(JSON.stringify(acme), 'p.json'), acme);
  const pin = { name: 'a.b', address: '127.0.0.1', ports: [80] };
  const bad: readonly [value: unknown, says: RegExp, why: string][] = [
    [null, /p\.json:1:1: null/, 'null'],
    [[], /expected an object/, 'a list'],
    [{}, /\/version[\s\S]*\/tenant[\s\S]*\/mode[\s\S]*\/allow[\s\S]*\/pins/, 'all that is missing, at once'],
    [{ ...acme, version: '1' }, /\/version/, 'text for a number'],
    [{ ...acme, tenant: '' }, /\/tenant/, 'no tenant'],
    [{ ...acme, mode: 'open' }, /\/mode/, 'an unknown mode'],
    [{ ...acme, extra: 1 }, /\/extra/, 'an unknown key'],
    [JSON.parse('{"__proto__": 1}'), /__proto__/, 'a dangerous key'],
    [{ ...acme, allow: 'example.com' }, /\/allow/, 'text for a list'],
    [{ ...acme, deny: [''] }, /\/deny\/0/, 'an empty denial'],
    ...[
      '*',
      '',
      'a b',
      '*.',
      '*.*.a',
      'a*.b',
      '*.1.2.3.4',
      'http://a',
      'a/b',
      'a:0',
      'a:b',
      'a:9-1',
      'a:1-2-3',
      '0x7f.1',
      '[::1',
      1,
    ].map((entry): [unknown, RegExp, string] => [
      { ...acme, allow: [entry] },
      /\/allow\/0/,
      `entry ${JSON.stringify(entry)}`,
    ]),
    [{ ...acme, pins: [{ ...pin, name: 'a.b:80' }] }, /\/pins\/0\/name/, 'a port in the name of a pin'],
    [{ ...acme, pins: [{ ...pin, name: '1.2.3.4' }] }, /\/pins\/0\/name/, 'an address as the name of a pin'],
    [{ ...acme, pins: [{ ...pin, address: 'localhost' }] }, /\/pins\/0\/address/, 'a name as the address of a pin'],
    [{ ...acme, pins: [{ ...pin, address: '127.1' }] }, /\/pins\/0\/address/, 'a short address'],
    [{ ...acme, pins: [{ ...pin, ports: [] }] }, /\/pins\/0\/ports/, 'no port'],
    [{ ...acme, pins: [{ ...pin, ports: [70_000] }] }, /\/pins\/0\/ports\/0/, 'no such port'],
    [{ ...acme, pins: [{ name: 'a' }] }, /address[\s\S]*ports/, 'half a pin'],
  ];
  for (const [value, says, why] of bad) {
    t.throws(
      () => parsePolicyFile(JSON.stringify(value), 'p.json'),
      { name: 'ConfigurationFailure', message: says },
      why,
    );
  }
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.domain(), fc.ipV4(), fc.webAuthority())),
      (allow) => {
        try {
          compilePolicy(parsePolicyFile(JSON.stringify({ ...acme, allow }), 'p.json'));
        } catch (error) {
          return error instanceof Error && error.name === 'ConfigurationFailure';
        }
        return true;
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

t.test('inherited descriptors', (t) => {
  const table: readonly [environment: NodeJS.ProcessEnv, descriptors: number[], why: string][] = [
    [{}, [], 'none'],
    [{ LISTEN_PID: '7', LISTEN_FDS: '1' }, [3], 'one'],
    [{ LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'a:b' }, [3, 4], 'two'],
    [{ LISTEN_PID: '8', LISTEN_FDS: '1' }, [], 'another process'],
    [{ LISTEN_FDS: '1' }, [], 'no process named'],
  ];
  for (const [environment, descriptors, why] of table) {
    const given = { ...environment, OTHER: 'x' };
    t.same(inheritedDescriptors(given, 7), descriptors, why);
    t.same(given, { OTHER: 'x' }, 'no child sees them');
  }
  for (const LISTEN_FDS of ['', '0', '-1', '1x', '9999']) {
    t.throws(() => inheritedDescriptors({ LISTEN_PID: '7', LISTEN_FDS }, 7), { name: 'UsageFailure' });
  }
  t.end();
});

t.test('own addresses', (t) => {
  const own = ownAddresses();
  t.equal(own('127.0.0.1'), true);
  t.equal(own('::ffff:127.0.0.1'), true, 'the mapped form of one');
  t.equal(own('93.184.216.34'), false);
  const refused = ownAddresses(() => {
    throw new Error('EAFNOSUPPORT');
  });
  t.equal(refused('93.184.216.34'), null);
  t.end();
});

t.test('the documentation lists every reason, with its verdict and status, and no other', (t) => {
  const text = readFileSync('docs/egress-proxy.md', 'utf8');
  const listed = [...text.matchAll(/^\| (allow|deny) +\| `([a-z-]+)` +\| (\d+|none) +\|$/gm)].map((row) =>
    row.slice(1),
  );
  const known = Object.entries(REASONS).map(([reason, { verdict, status }]) => [
    verdict,
    reason,
    String(status || 'none'),
  ]);
  t.same(listed, known);
  const example = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  t.equal(parsePolicyFile(example, 'docs').tenant, 'acme', 'its example is a valid policy');
  t.end();
});

t.test('an entry that the configuration takes means the same to the proxy', (t) => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.constantFrom(
      'Bücher.example',
      'EXAMPLE.com',
      'a_b.example',
      '*.例え.example',
      '0x7f.1',
      '1.2.3',
      '*.1.2.3.4',
      'a.b.',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const port = fc.oneof(
    fc.constant(''),
    fc.nat(70_000).map((from) => `:${from}`),
    fc.tuple(fc.nat(70_000), fc.nat(70_000)).map(([from, to]) => `:${from}-${to}`),
  );
  let taken = 0;
  fc.assert(
    fc.property(fc.constantFrom('', '*.'), host, port, (wildcard, name, ports) => {
      const text = wildcard + name + ports;
      const theirs = parseAllowPattern(text);
      if (!theirs.ok) return true;
      taken += 1;
      const ours = parseEntry(text);
      if (!ours.ok) return false;
      const { match, kind, host } = ours.value;
      const sameKind =
        theirs.pattern.kind === (kind === 'address' ? 'address' : match === 'below' ? 'subdomains' : 'name');
      const samePorts =
        JSON.stringify((ours.value.ports ?? DEFAULT_PORTS).map(([from, to]) => ({ from, to }))) ===
        JSON.stringify(theirs.pattern.ports);
      return sameKind && samePorts && host === theirs.pattern.host;
    }),
    { numRuns: 3000 },
  );
  t.ok(taken > 500, `${taken} entries compared`);
  t.end();
});
