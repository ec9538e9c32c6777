import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import t from 'tap';
import { addressBytes, canonicalAddress, destinationKey } from '../../../host/egress-proxy/address-bytes.js';
import { IPV4_RANGES, IPV6_RANGES } from '../../../host/egress-proxy/address-ranges.js';
import { classifyAddress } from '../../../host/egress-proxy/classify.js';

/** Range that must hold each address; null where it is public. Edges on both sides of every range. */
const IPV4: Readonly<Record<string, string | null>> = {
  '0.0.0.0': '0.0.0.0/8',
  '0.255.255.255': '0.0.0.0/8',
  '1.0.0.0': null,
  '1.1.1.1': null,
  '8.8.8.8': null,
  '9.255.255.255': null,
  '10.0.0.0': '10.0.0.0/8',
  '10.98.0.11': '10.0.0.0/8',
  '10.255.255.255': '10.0.0.0/8',
  '11.0.0.0': null,
  '93.184.216.34': null,
  '100.63.255.255': null,
  '100.64.0.0': '100.64.0.0/10',
  '100.100.100.200': '100.64.0.0/10',
  '100.127.255.255': '100.64.0.0/10',
  '100.128.0.0': null,
  '126.255.255.255': null,
  '127.0.0.0': '127.0.0.0/8',
  '127.0.0.1': '127.0.0.0/8',
  '127.0.0.53': '127.0.0.0/8',
  '127.63.0.1': '127.0.0.0/8',
  '127.255.255.255': '127.0.0.0/8',
  '128.0.0.0': null,
  '168.63.129.15': null,
  '168.63.129.16': '168.63.129.16/32',
  '168.63.129.17': null,
  '169.253.255.255': null,
  '169.254.0.0': '169.254.0.0/16',
  '169.254.169.254': '169.254.0.0/16',
  '169.254.170.2': '169.254.0.0/16',
  '169.254.255.255': '169.254.0.0/16',
  '169.255.0.0': null,
  '172.15.255.255': null,
  '172.16.0.0': '172.16.0.0/12',
  '172.17.0.1': '172.16.0.0/12',
  '172.31.255.255': '172.16.0.0/12',
  '172.32.0.0': null,
  '191.255.255.255': null,
  '192.0.0.0': '192.0.0.0/24',
  '192.0.0.170': '192.0.0.0/24',
  '192.0.0.192': '192.0.0.0/24',
  '192.0.0.255': '192.0.0.0/24',
  '192.0.1.0': null,
  '192.0.2.0': '192.0.2.0/24',
  '192.0.2.255': '192.0.2.0/24',
  '192.0.3.0': null,
  '192.88.98.255': null,
  '192.88.99.0': '192.88.99.0/24',
  '192.88.99.1': '192.88.99.0/24',
  '192.88.99.255': '192.88.99.0/24',
  '192.88.100.0': null,
  '192.167.255.255': null,
  '192.168.0.0': '192.168.0.0/16',
  '192.168.1.1': '192.168.0.0/16',
  '192.168.255.255': '192.168.0.0/16',
  '192.169.0.0': null,
  '198.17.255.255': null,
  '198.18.0.0': '198.18.0.0/15',
  '198.19.255.255': '198.18.0.0/15',
  '198.20.0.0': null,
  '198.51.99.255': null,
  '198.51.100.0': '198.51.100.0/24',
  '198.51.100.255': '198.51.100.0/24',
  '198.51.101.0': null,
  '203.0.112.255': null,
  '203.0.113.0': '203.0.113.0/24',
  '203.0.113.255': '203.0.113.0/24',
  '203.0.114.0': null,
  '223.255.255.255': null,
  '224.0.0.0': '224.0.0.0/4',
  '224.0.0.251': '224.0.0.0/4',
  '239.255.255.250': '224.0.0.0/4',
  '239.255.255.255': '224.0.0.0/4',
  '240.0.0.0': '240.0.0.0/4',
  '255.255.255.254': '240.0.0.0/4',
  '255.255.255.255': '255.255.255.255/32',
};

const IPV6: Readonly<Record<string, string | null>> = {
  '::': '::/128',
  '0:0:0:0:0:0:0:0': '::/128',
  '0000:0000:0000:0000:0000:0000:0000:0000': '::/128',
  '::0.0.0.0': '::/128',
  '::1': '::1/128',
  '0:0:0:0:0:0:0:1': '::1/128',
  '0::1': '::1/128',
  '::0001': '::1/128',
  '::0.0.0.1': '::1/128',
  '::2': '::/96 0.0.0.0/8',
  '::127.0.0.1': '::/96 127.0.0.0/8',
  '::7f00:1': '::/96 127.0.0.0/8',
  '::10.0.0.1': '::/96 10.0.0.0/8',
  '::a9fe:a9fe': '::/96 169.254.0.0/16',
  '::8.8.8.8': '::/96',
  '::1:0:0': '::/3',
  '::ffff:127.0.0.1': '::ffff:0:0/96 127.0.0.0/8',
  '::FFFF:127.0.0.1': '::ffff:0:0/96 127.0.0.0/8',
  '::ffff:7f00:1': '::ffff:0:0/96 127.0.0.0/8',
  '::ffff:7F00:0001': '::ffff:0:0/96 127.0.0.0/8',
  '0:0:0:0:0:ffff:127.0.0.1': '::ffff:0:0/96 127.0.0.0/8',
  '0000:0000:0000:0000:0000:ffff:7f00:0001': '::ffff:0:0/96 127.0.0.0/8',
  '::ffff:10.1.2.3': '::ffff:0:0/96 10.0.0.0/8',
  '::ffff:169.254.169.254': '::ffff:0:0/96 169.254.0.0/16',
  '::ffff:100.64.0.1': '::ffff:0:0/96 100.64.0.0/10',
  '::ffff:0.0.0.0': '::ffff:0:0/96 0.0.0.0/8',
  '::ffff:255.255.255.255': '::ffff:0:0/96 255.255.255.255/32',
  '::ffff:8.8.8.8': '::ffff:0:0/96',
  '::ffff:0:127.0.0.1': '::ffff:0:0:0/96 127.0.0.0/8',
  '::ffff:0:7f00:1': '::ffff:0:0:0/96 127.0.0.0/8',
  '::ffff:0:192.168.1.1': '::ffff:0:0:0/96 192.168.0.0/16',
  '::ffff:0:8.8.8.8': '::ffff:0:0:0/96',
  '64:ff9b::127.0.0.1': '64:ff9b::/96 127.0.0.0/8',
  '64:ff9b::7f00:1': '64:ff9b::/96 127.0.0.0/8',
  '64:ff9b::10.0.0.1': '64:ff9b::/96 10.0.0.0/8',
  '64:ff9b::a9fe:a9fe': '64:ff9b::/96 169.254.0.0/16',
  '64:ff9b::100.64.0.1': '64:ff9b::/96 100.64.0.0/10',
  '64:ff9b::8.8.8.8': null,
  '0064:ff9b:0:0:0:0:8.8.8.8': null,
  '64:ff9b:1::1': '64:ff9b:1::/48',
  '64:ff9b:1::8.8.8.8': '64:ff9b:1::/48',
  '64:ff9b:1:ffff:ffff:ffff:ffff:ffff': '64:ff9b:1::/48',
  '64:ff9b:2::1': '::/3',
  '64:ff9a::1': '::/3',
  '64:ff9b:0:1::8.8.8.8': '::/3',
  '100::': '100::/64',
  '100::ffff:ffff:ffff:ffff': '100::/64',
  '100:0:0:1::1': '100:0:0:1::/64',
  '100:0:0:2::1': '::/3',
  '1fff:ffff::1': '::/3',
  '2000::1': null,
  '2001::': '2001::/32 0.0.0.0/8',
  '2001:0:7f00:1::1': '2001::/32 127.0.0.0/8',
  '2001:0:808:808::1': '2001::/32',
  '2001:0000:ffff:ffff:ffff:ffff:ffff:ffff': '2001::/32 255.255.255.255/32',
  '2001:1::1': '2001::/23',
  '2001:2::1': '2001:2::/48',
  '2001:2:1::1': '2001::/23',
  '2001:3::1': '2001::/23',
  '2001:4:112::1': '2001::/23',
  '2001:10::1': '2001:10::/28',
  '2001:1f:ffff::1': '2001:10::/28',
  '2001:20::1': '2001:20::/28',
  '2001:2f:ffff::1': '2001:20::/28',
  '2001:30::1': '2001::/23',
  '2001:1ff:ffff::1': '2001::/23',
  '2001:200::1': null,
  '2001:4860:4860::8888': null,
  '2001:db7:ffff::1': null,
  '2001:db8::': '2001:db8::/32',
  '2001:0DB8::1': '2001:db8::/32',
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff': '2001:db8::/32',
  '2001:db9::1': null,
  '2002::': '2002::/16 0.0.0.0/8',
  '2002:7f00:1::': '2002::/16 127.0.0.0/8',
  '2002:7f00:0001::1': '2002::/16 127.0.0.0/8',
  '2002:a00:1::1': '2002::/16 10.0.0.0/8',
  '2002:a9fe:a9fe::1': '2002::/16 169.254.0.0/16',
  '2002:808:808::1': '2002::/16',
  '2003::1': null,
  '2606:2800::1': null,
  '2a00:1450:4001::200e': null,
  '3ffe:ffff::1': null,
  '3fff::1': '3fff::/20',
  '3fff:fff:ffff::1': '3fff::/20',
  '3fff:1000::1': null,
  '4000::1': '4000::/2',
  '5f00::1': '5f00::/16',
  '5f01::1': '4000::/2',
  '7fff::1': '4000::/2',
  '8000::1': '8000::/1',
  'fbff::1': '8000::/1',
  'fc00::': 'fc00::/7',
  'fd00:ec2::254': 'fc00::/7',
  'fdff:ffff::1': 'fc00::/7',
  'fe00::1': '8000::/1',
  'fe80::1': 'fe80::/10',
  'FE80::1': 'fe80::/10',
  'fe80::a9fe:a9fe': 'fe80::/10',
  'febf:ffff::1': 'fe80::/10',
  'fec0::1': 'fec0::/10',
  'feff::1': 'fec0::/10',
  'ff00::': 'ff00::/8',
  'ff02::1': 'ff00::/8',
  'ff02::fb': 'ff00::/8',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff': 'ff00::/8',
};

/** What no resolver should answer, and the system's would still take. */
const UNREADABLE = [
  '',
  ' ',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.01',
  '127.0.0.1 ',
  '1.2.3.4.5',
  '256.0.0.1',
  '[::1]',
  'fe80::1%eth0',
  '::1%1',
  '::ffff:127.1',
  '1::2::3',
  'localhost',
  '１２７.0.0.1',
];

t.test('every address by name', (t) => {
  for (const [address, range] of Object.entries({ ...IPV4, ...IPV6 })) {
    const found = classifyAddress(address);
    t.equal(found.kind === 'forbidden' ? found.range : null, range, address);
  }
  for (const text of UNREADABLE) t.same(classifyAddress(text), { kind: 'forbidden', range: 'unreadable' }, text);
  t.end();
});

t.test('every range has its source and is met by the table', (t) => {
  const met = new Set(Object.values({ ...IPV4, ...IPV6 }).flatMap((range) => range?.split(' ') ?? []));
  for (const { range, what, source } of [...IPV4_RANGES, ...IPV6_RANGES]) {
    if (range !== '64:ff9b::/96') t.ok(met.has(range), `${range} ${what}`);
    t.not(source, '', range);
  }
  t.end();
});

const privateIpv4 = fc
  .tuple(fc.constantFrom(...IPV4_RANGES.map(({ range }) => range)), fc.nat(0xffffffff))
  .map(([range, noise]) => {
    const [network, bits] = ipaddr.IPv4.parseCIDR(range);
    return network.toByteArray().map((byte, index) => {
      const mask = 0xff & ~(0xff << Math.max(0, Math.min(8, 8 * (index + 1) - bits)));
      return (byte & ~mask & 0xff) | ((noise >>> (8 * index)) & mask);
    });
  });

t.test('any private IPv4 address, plain or inside any IPv6 form, is forbidden', (t) => {
  fc.assert(
    fc.property(privateIpv4, fc.boolean(), (bytes, upper) => {
      const dotted = bytes.join('.');
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
      const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
      const forms = [
        dotted,
        ...['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].flatMap((prefix) => [
          prefix + dotted,
          prefix + groups,
        ]),
        `2002:${groups}::1`,
        `2001:0:${groups}::`,
      ];
      return forms.every((form) => classifyAddress(upper ? form.toUpperCase() : form).kind === 'forbidden');
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('an address that is forbidden stays so in every spelling of it', (t) => {
  const ipv6 = fc.ipV6().filter((address) => !address.includes('%'));
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), ipv6), (address) => {
      const canonical = canonicalAddress(address) ?? '';
      const written = (addressBytes(address) ?? []).map((byte) => byte.toString(16).padStart(2, '0')).join('');
      const whole = address.includes(':') ? written.replace(/(.{4})(?!$)/g, '$1:') : address;
      const first = classifyAddress(address);
      const spellings = [canonical, whole, address.toUpperCase()];
      return spellings.every((spelling) => JSON.stringify(classifyAddress(spelling)) === JSON.stringify(first));
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('bytes and canonical text of an address', (t) => {
  t.equal(destinationKey('::ffff:127.0.0.1'), destinationKey('127.0.0.1'));
  t.not(destinationKey('::127.0.0.1'), destinationKey('127.0.0.1'), 'compatible is not mapped');
  t.equal(canonicalAddress('::127.0.0.1'), '::7f00:1');
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      if (address.includes('%')) return addressBytes(address) === null;
      const bytes = addressBytes(address);
      const again = addressBytes(canonicalAddress(address) ?? '');
      return bytes?.length === 16 && bytes.join() === again?.join();
    }),
    { numRuns: 2000 },
  );
  t.end();
});
