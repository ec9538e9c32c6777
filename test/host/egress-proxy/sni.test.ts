import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import t from 'tap';
import { type Hello, helloReader } from '../../../host/egress-proxy/client-hello.js';
import { compilePolicy } from '../../../host/egress-proxy/policy.js';
import type { PolicyFile } from '../../../host/egress-proxy/policy-file.js';
import { sniFault } from '../../../host/egress-proxy/sni.js';
import { closeAll, eventually, Line, pinned, policyFile, running, type Sink, sink, tunnelTo } from './support.js';

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255);
const u24 = (value: number): Buffer => Buffer.of(value >> 16, (value >> 8) & 255, value & 255);
const vector = (size: 1 | 2, content: Buffer): Buffer =>
  Buffer.concat([size === 1 ? Buffer.of(content.length) : u16(content.length), content]);
const extension = (type: number, content: Buffer): Buffer => Buffer.concat([u16(type), vector(2, content)]);
const named = (name: string, type = 0): Buffer =>
  Buffer.concat([Buffer.of(type), vector(2, Buffer.from(name, 'latin1'))]);
const serverName = (...names: Buffer[]): Buffer => extension(0, vector(2, Buffer.concat(names)));
const padding = (size: number): Buffer => extension(21, Buffer.alloc(size));

/** A hello as a handshake message. */
function message(extensions: readonly Buffer[] | null, tail = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([
    Buffer.of(3, 3),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 1)),
    vector(2, u16(0x1301)),
    vector(1, Buffer.of(0)),
    ...(extensions === null ? [] : [vector(2, Buffer.concat(extensions))]),
    tail,
  ]);
  return Buffer.concat([Buffer.of(1), u24(body.length), body]);
}

function record(content: Buffer, type = 22, version = 0x0301): Buffer {
  return Buffer.concat([Buffer.of(type), u16(version), vector(2, content)]);
}

/** A message cut into records of these sizes, the last of which repeats. */
function records(content: Buffer, ...sizes: number[]): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, index = 0; at < content.length; index++) {
    const size = sizes[Math.min(index, sizes.length - 1)] ?? 1;
    parts.push(record(content.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat(parts);
}

function readAll(...chunks: Buffer[]): Hello | null {
  const reader = helloReader();
  for (const chunk of chunks) {
    const hello = reader.push(chunk);
    if (hello !== null) return hello;
  }
  return null;
}

/** What Node's own TLS sends first. */
async function realHello(servername?: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connectTls({ port, host: '127.0.0.1', ...(servername === undefined ? {} : { servername }) });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [hello] = await once(socket, 'data');
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

const NAME = 'www.example.com';
const GOOD = message([serverName(named(NAME))]);
const found: Hello = { kind: 'name', name: NAME };
const CASES: readonly { why: string; bytes: Buffer; hello: Hello | null }[] = [
  { why: "Node's own", bytes: await realHello(NAME), hello: found },
  { why: "Node's own without a name", bytes: await realHello(), hello: { kind: 'absent' } },
  { why: 'in one record', bytes: record(GOOD), hello: found },
  { why: 'a record a byte', bytes: records(GOOD, 1), hello: found },
  {
    why: 'the name late in a large hello',
    bytes: records(message([padding(50_000), serverName(named(NAME))]), 16_384),
    hello: found,
  },
  { why: 'the next record behind it', bytes: Buffer.concat([record(GOOD), record(Buffer.of(1), 20)]), hello: found },
  { why: 'no extensions at all', bytes: record(message(null)), hello: { kind: 'absent' } },
  { why: 'other extensions only', bytes: record(message([padding(10)])), hello: { kind: 'absent' } },
  { why: 'not whole', bytes: record(GOOD).subarray(0, -1), hello: null },
  { why: 'nothing yet', bytes: Buffer.alloc(0), hello: null },
  { why: 'plain HTTP', bytes: Buffer.from('GET / HTTP/1.1\r\n'), hello: { kind: 'unreadable' } },
  { why: 'an SSLv2 hello', bytes: Buffer.from('802e0100020015', 'hex'), hello: { kind: 'unreadable' } },
  { why: 'an alert', bytes: record(Buffer.of(1, 0), 21), hello: { kind: 'unreadable' } },
  { why: 'a server hello', bytes: record(Buffer.of(2, 0, 0, 0)), hello: { kind: 'unreadable' } },
  { why: 'an empty record', bytes: record(Buffer.alloc(0)), hello: { kind: 'unreadable' } },
  {
    why: 'a record that is too long',
    bytes: record(Buffer.concat([GOOD, Buffer.alloc(17_000)])),
    hello: { kind: 'unreadable' },
  },
  {
    why: 'a hello that is too long',
    bytes: record(Buffer.concat([Buffer.of(1), u24(70_000)])),
    hello: { kind: 'unreadable' },
  },
  {
    why: 'two names',
    bytes: record(message([serverName(named('a.example'), named(NAME))])),
    hello: { kind: 'unreadable' },
  },
  {
    why: 'two extensions',
    bytes: record(message([serverName(named('a.example')), serverName(named(NAME))])),
    hello: { kind: 'unreadable' },
  },
  { why: 'another type of name', bytes: record(message([serverName(named(NAME, 1))])), hello: { kind: 'unreadable' } },
  { why: 'an empty list', bytes: record(message([serverName()])), hello: { kind: 'unreadable' } },
  {
    why: 'a length beyond the end',
    bytes: record(message([Buffer.concat([u16(0), u16(99)])])),
    hello: { kind: 'unreadable' },
  },
  {
    why: 'bytes behind the extensions',
    bytes: record(message([serverName(named(NAME))], Buffer.of(0))),
    hello: { kind: 'unreadable' },
  },
];

t.test('what a hello says', async (t) => {
  for (const { why, bytes, hello } of CASES) {
    t.same(readAll(bytes), hello, why);
    t.same(readAll(...[...bytes].map((byte) => Buffer.of(byte))), hello, `${why}, byte by byte`);
  }
});

t.test('however it is cut, a hello says the same, and no bytes bring the reader down', async () => {
  const size = fc.integer({ min: 1, max: 400 });
  fc.assert(
    fc.property(
      fc.array(size, { minLength: 1 }),
      fc.array(size, { minLength: 1 }),
      fc.nat(2000),
      (cuts, packets, pad) => {
        const bytes = records(message([padding(pad), serverName(named(NAME)), padding(3)]), ...cuts);
        const chunks: Buffer[] = [];
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const length = packets[index % packets.length] ?? 1;
          chunks.push(bytes.subarray(at, at + length));
          at += length;
        }
        const hello = readAll(...chunks);
        return hello?.kind === 'name' && hello.name === NAME;
      },
    ),
  );
  const flipped = fc.tuple(fc.nat(GOOD.length + 4), fc.nat(255)).map(([at, value]) => {
    const bytes = Buffer.from(record(GOOD));
    bytes[at] = value;
    return bytes;
  });
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }).map(Buffer.from), flipped);
  fc.assert(
    fc.property(bytes, (bytes) => {
      readAll(Buffer.from(bytes));
    }),
    { numRuns: 500 },
  );
});

t.test('the name against the host', async (t) => {
  const name = (text: string) => ({ kind: 'name', name: text }) as const;
  const host = name(NAME);
  const address = { kind: 'address', address: '93.184.216.34' } as const;
  const table: readonly [hello: Hello, host: Parameters<typeof sniFault>[1], fault: string | null, why: string][] = [
    [name(NAME), host, null, 'the same'],
    [name('WWW.Example.COM'), host, null, 'in capitals'],
    [name('www.example.com.'), host, null, 'with a dot'],
    [name('evil.example.com'), host, 'sni-mismatch', 'another'],
    [name('example.com'), host, 'sni-mismatch', 'the parent'],
    [name('www.example.com\0.evil.example'), host, 'sni-unreadable', 'with a NUL'],
    [name(''), host, 'sni-unreadable', 'an empty one'],
    [name('0x7f.1'), host, 'sni-unreadable', 'an address in disguise'],
    [{ kind: 'absent' }, host, 'sni-absent', 'none'],
    [{ kind: 'unreadable' }, host, 'sni-unreadable', 'no TLS'],
    [{ kind: 'absent' }, address, null, 'none, to an address'],
    [name(NAME), address, 'sni-mismatch', 'one, to an address'],
    [name('93.184.216.34'), address, 'sni-mismatch', 'an address is no server name'],
  ];
  for (const [hello, target, fault, why] of table) t.equal(sniFault(hello, target), fault, why);
});

/** A proxy that lets names pass as listed ones do, to a sink on loopback. */
async function listed(part: Partial<PolicyFile>, far: Sink) {
  const policy = compilePolicy(policyFile(part));
  const decide = () => ({ verdict: 'pass', reason: 'allowed', rule: NAME, pin: '127.0.0.1' }) as const;
  return running(pinned([far.port]), { policy: { ...policy, decide }, limits: { headMs: 300, reportHelloMs: 100 } });
}

const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
const OTHER = record(message([serverName(named('other.example'))]));
const BARE = record(message([]));
const OUTCOMES: readonly {
  why: string;
  policy: Partial<PolicyFile>;
  send: Buffer | null;
  reason: string;
  passes: boolean;
  back?: Buffer;
}[] = [
  { why: 'the right name', policy: { sni: 'enforce' }, send: record(GOOD), reason: 'allowed', passes: true },
  { why: 'another name', policy: { sni: 'enforce' }, send: OTHER, reason: 'sni-mismatch', passes: false, back: ALERT },
  { why: 'no name', policy: { sni: 'enforce' }, send: BARE, reason: 'sni-absent', passes: false, back: ALERT },
  {
    why: 'no TLS',
    policy: { sni: 'enforce' },
    send: Buffer.from('SSH-2.0-x\r\n'),
    reason: 'sni-unreadable',
    passes: false,
  },
  {
    why: 'half a hello',
    policy: { sni: 'enforce' },
    send: record(GOOD).subarray(0, 40),
    reason: 'sni-unreadable',
    passes: false,
  },
  { why: 'silence', policy: { sni: 'enforce' }, send: null, reason: 'sni-unreadable', passes: false },
  { why: 'reported: the right name', policy: { sni: 'report' }, send: record(GOOD), reason: 'allowed', passes: true },
  { why: 'reported: another', policy: { sni: 'report' }, send: OTHER, reason: 'report-sni-mismatch', passes: true },
  { why: 'reported: none', policy: { sni: 'report' }, send: BARE, reason: 'report-sni-absent', passes: true },
  {
    why: 'reported: no TLS',
    policy: { sni: 'report' },
    send: Buffer.from('hi'),
    reason: 'report-sni-unreadable',
    passes: true,
  },
  {
    why: 'a tenant that is being introduced',
    policy: { sni: 'enforce', mode: 'report' },
    send: OTHER,
    reason: 'report-sni-mismatch',
    passes: true,
  },
  { why: 'off', policy: { sni: 'off' }, send: OTHER, reason: 'allowed', passes: true },
  { why: 'off where nothing is said', policy: {}, send: OTHER, reason: 'allowed', passes: true },
];

t.test('what becomes of a tunnel', async (t) => {
  for (const { why, policy, send, reason, passes, back } of OUTCOMES) {
    for (const together of send === null ? [false] : [false, true]) {
      const received: Buffer[] = [];
      const far = await sink((socket) => {
        socket.on('data', (chunk: Buffer) => {
          received.push(chunk);
          if (Buffer.concat(received).length === send?.length) socket.write('heard');
        });
        socket.on('end', () => socket.end());
      });
      const { proxy, port, decisions, lines } = await listed(policy, far);
      const label = `${why}${together ? ', behind the head' : ''}`;
      const head = Buffer.from(`CONNECT ${NAME}:${far.port} HTTP/1.1\r\n\r\n`);
      const line = await Line.to(port);
      line.socket.write(together && send ? Buffer.concat([head, send]) : head);
      t.match(await line.upTo('\r\n\r\n'), /^HTTP\/1\.1 200 /, label);
      if (!together && send) {
        line.socket.write(send.subarray(0, 7));
        await new Promise(setImmediate);
        line.socket.write(send.subarray(7));
      }
      if (passes) {
        t.equal((await line.bytes(5)).toString(), 'heard', `${label}: it passes`);
        t.same(Buffer.concat(received), send, `${label}: every byte`);
        line.socket.end();
      } else {
        t.same(await line.toEnd(), back ?? Buffer.alloc(0), `${label}: it is closed`);
        t.equal(received.length, 0, `${label}: not one byte arrives`);
        line.socket.end();
      }
      await eventually(() => proxy.open() === 0, `${label}: over`);
      t.match(decisions(), [{ reason, verdict: passes ? 'allow' : 'deny', status: 200 }], label);
      t.equal(decisions().length, 1, `${label}: one line`);
      t.equal(lines.length - decisions().length, passes ? 1 : 0, `${label}: an end where it began`);
      await closeAll(proxy, [far]);
    }
  }
});

t.test('where the far side speaks first, where the client ends or leaves', async (t) => {
  const banner = await sink((socket) => {
    socket.write('220 ready\r\n');
    socket.on('end', () => socket.end());
    socket.resume();
  });
  const report = await listed({ sni: 'report' }, banner);
  const enforce = await listed({ sni: 'enforce' }, banner);
  t.teardown(() => Promise.all([closeAll(report.proxy, [banner]), closeAll(enforce.proxy, [])]));
  const line = await tunnelTo(report.port, `${NAME}:${banner.port}`);
  t.equal(await line.upTo('\r\n'), '220 ready\r\n', 'reported: it gets through after a moment');
  line.socket.end();
  const ended = await tunnelTo(report.port, `${NAME}:${banner.port}`);
  ended.socket.end('abc');
  t.equal((await ended.toEnd()).toString(), '220 ready\r\n', 'an end while the hello is awaited is passed on');
  await eventually(() => report.proxy.open() === 0, 'both over');
  (await tunnelTo(enforce.port, `${NAME}:${banner.port}`)).socket.resetAndDestroy();
  await eventually(() => enforce.decisions().length === 1, 'its line');
  t.match(enforce.decisions(), [{ reason: 'client-gone', status: 200 }]);
  t.equal(enforce.proxy.figures().tunnels, 0);
});

t.test("pinned names are verification's own, and speak no TLS", async (t) => {
  const far = await sink((socket) => socket.pipe(socket));
  const { proxy, port } = await running(pinned([far.port], { sni: 'enforce' }));
  t.teardown(() => closeAll(proxy, [far]));
  const line = await tunnelTo(port, `a.sink.test:${far.port}`);
  line.socket.end('plain');
  t.equal((await line.toEnd()).toString(), 'plain');
});
