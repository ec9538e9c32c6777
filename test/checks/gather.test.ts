import fc from 'fast-check';
import t from 'tap';
import { arrivalsOf, controlArrivalsOf } from '../../checks/arrivals.js';
import type { Attempt } from '../../checks/attempt.js';
import { parseChildLine } from '../../checks/gather/child-lines.js';
import { countersMoved, parseCounters } from '../../checks/gather/counters.js';
import { parseDecision } from '../../checks/gather/proxy-log.js';

const attempt = (over: Partial<Attempt>): Attempt => ({
  id: 'a',
  kind: 'tcp',
  family: 4,
  address: '198.51.100.2',
  port: 443,
  nonce: 'nabc',
  deadline: 1,
  ...over,
});
const packet = (over: object) => ({ protocol: 'tcp', address: '198.51.100.2', port: 443, payload: '', ...over });
const none = { far: { arrivals: [], echoes: [] }, near: [] };

t.test('arrivals of confined attempts', async (t) => {
  const cases = [
    { why: 'nothing came', made: {}, came: none, count: 0 },
    {
      why: 'the first packet of a connection holds no nonce',
      made: {},
      came: { ...none, far: { arrivals: [packet({})], echoes: [] } },
      count: 1,
    },
    {
      why: 'another port',
      made: {},
      came: { ...none, far: { arrivals: [packet({ port: 80 })], echoes: [] } },
      count: 0,
    },
    {
      why: 'another protocol',
      made: {},
      came: { ...none, far: { arrivals: [packet({ protocol: 'udp' })], echoes: [] } },
      count: 0,
    },
    {
      why: 'ICMP has no port',
      made: { kind: 'icmp', port: 0 },
      came: { ...none, far: { arrivals: [packet({ protocol: 'icmp', port: 0 })], echoes: [] } },
      count: 1,
    },
    {
      why: 'a raw protocol by its number',
      made: { kind: 'raw', protocol: 253 },
      came: { ...none, far: { arrivals: [packet({ protocol: '253', port: 0 })], echoes: [] } },
      count: 1,
    },
    {
      why: 'a connection that a listener on the host took',
      made: { address: '127.0.0.1', port: 9 },
      came: { ...none, near: [{ address: '127.0.0.1', port: 9, data: '' }] },
      count: 1,
    },
    {
      why: 'a fetch through the proxy, by its nonce',
      made: { kind: 'proxy-http' },
      came: { ...none, near: [{ address: '127.63.0.1', port: 80, data: 'GET /nabc' }] },
      count: 1,
    },
    {
      why: 'a fetch of somebody else',
      made: { kind: 'proxy-http' },
      came: { ...none, near: [{ address: '127.63.0.1', port: 80, data: 'GET /nxyz' }] },
      count: 0,
    },
  ] as const;
  for (const { why, made, came, count } of cases) t.equal(arrivalsOf([attempt(made)], came), count, why);
});

t.test('arrivals of the control', async (t) => {
  const came = (far: object, near: { address: string; port: number; data: string }[] = []) => ({
    far: { arrivals: [], echoes: [], ...far },
    near,
  });
  t.equal(
    controlArrivalsOf([attempt({})], came({ arrivals: [packet({})] })),
    0,
    'a packet without its nonce may be of anybody',
  );
  t.equal(controlArrivalsOf([attempt({})], came({ echoes: ['nabc'] })), 1, 'an exchange');
  t.equal(controlArrivalsOf([attempt({})], came({ arrivals: [packet({ payload: '\0nabc\0' })] })), 1, 'a datagram');
  t.equal(
    controlArrivalsOf([attempt({})], came({}, [{ address: 'x', port: 1, data: 'nabc\n' }])),
    1,
    'on the host itself',
  );
});

t.test('counters', async (t) => {
  const json = (entries: object[]) => JSON.stringify({ nftables: [{ metainfo: {} }, ...entries] });
  const counter = (name: string, packets: number, table = 'watertight') => ({
    counter: { family: 'inet', name, table, packets, bytes: 0 },
  });
  const before = parseCounters(json([counter('acme_udp', 3), counter('acme_tcp', 1)]));
  const after = parseCounters(json([counter('acme_udp', 5), counter('acme_tcp', 1), counter('acme_proxy', 1)]));
  t.strictSame(
    countersMoved(before, after, 'acme'),
    { kind: 'read', moved: { udp: 2, tcp: 0 } },
    'a counter that was missing before is left out',
  );
  t.match(
    countersMoved(after, before, 'acme'),
    { kind: 'unknown', reason: /reset/ },
    'a table that was loaded anew in between',
  );
  t.match(parseCounters('{"nftables": 3}'), { kind: 'unknown' }, 'garbage is not "no counters"');
  t.strictSame(countersMoved({ kind: 'absent', reason: 'r' }, after, 'acme'), { kind: 'absent', reason: 'r' });
  const foreign = parseCounters(json([counter('acme_udp', 9, 'other')]));
  t.strictSame(
    countersMoved(foreign, foreign, 'acme'),
    { kind: 'read', moved: {} },
    "another table's counter of that name",
  );
});

t.test('lines from outside never crash and never say more than they are', async (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      parseChildLine(text);
      parseDecision(text);
      return parseCounters(text).kind !== 'absent';
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const said = parseChildLine(JSON.stringify({ observations: [value] }));
      return said.kind === 'observations' && said.observations.every(({ id }) => typeof id === 'string');
    }),
  );
  t.strictSame(
    parseChildLine('{"observations": [{"id": "x"}]}'),
    { kind: 'observations', observations: [] },
    'half an observation is none',
  );
  t.equal(parseDecision('{"event":"end","host":"h","verdict":"allow","reason":"r"}'), null, 'only decisions count');
});
