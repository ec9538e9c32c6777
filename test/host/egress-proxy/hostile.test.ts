import { connect } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { dial } from '../../../host/egress-proxy/dial.js';
import { closeAll, echo, eventually, pinned, policyFile, running, sink, statusOf, talk, tunnelTo } from './support.js';

const LIMITS = { headMs: 200, connectMs: 2000, answerMs: 500, halfClosedMs: 200 };

const byte = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const token = fc.constantFrom('CONNECT', 'GET', 'POST', 'connect', 'PRI', '', 'CONNECT\t', 'HEAD', 'OPTIONS');
const authority = fc.oneof(
  byte,
  fc.webAuthority(),
  fc.constantFrom(
    'a.sink.test:80',
    'http://a.sink.test/',
    '[::1]:1',
    '*',
    '/',
    'http://',
    'http://[',
    'https://x',
    ':',
    '@',
  ),
);
const field = fc.oneof(
  byte,
  fc.constantFrom(
    'Host: a.sink.test',
    'Host:',
    'Content-Length: 5',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: x',
    'Connection: close',
    'Connection: upgrade',
    'Upgrade: websocket',
    'Expect: 100-continue',
    ' folded',
    ':',
  ),
);
const head = fc
  .tuple(
    token,
    authority,
    fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9', ''),
    fc.array(field, { maxLength: 6 }),
    byte,
  )
  .map(([method, target, version, fields, rest]) => {
    return `${[`${method} ${target} ${version}`, ...fields].join('\r\n')}\r\n\r\n${rest}`;
  });

t.test('no byte stream brings it down or leaves anything behind', async (t) => {
  const far = await sink(echo);
  const { proxy, port, lines } = await running(pinned([80, far.port], { allow: ['example.com'] }), {
    limits: LIMITS,
    world: { lookup: async () => ['10.0.0.1'] },
  });
  t.teardown(() => closeAll(proxy, [far]));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(head, byte), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('end', 'reset'),
      (parts, how) => {
        return new Promise<void>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => {
            for (const part of parts) socket.write(Buffer.from(part, 'latin1'));
            if (how === 'end') socket.end();
            else setImmediate(() => socket.resetAndDestroy());
          });
          socket.on('error', () => {});
          socket.on('close', () => resolve());
          socket.resume();
        });
      },
    ),
    { numRuns: 400 },
  );
  await eventually(() => proxy.open() === 0, 'every connection over');
  t.ok(lines.length > 100, 'requests were seen');
  t.ok(lines.every((line) => line.verdict === 'deny' || line.address === '127.0.0.1' || line.address === ''));
  const alive = await tunnelTo(port, `a.sink.test:${far.port}`);
  alive.socket.write('alive');
  t.equal((await alive.bytes(5)).toString(), 'alive');
  alive.socket.destroy();
});

/** A loopback address of the sink, in some spelling that something, somewhere, reads as one. */
const spelling = fc.tuple(fc.nat(0xffffff), fc.nat(9)).map(([low, form]) => {
  const value = 0x7f000000 + low;
  const [a, b, c, d] = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  const hex = value.toString(16);
  const forms = [
    `${a}.${b}.${c}.${d}`,
    String(value),
    `0x${hex}`,
    `0${value.toString(8)}`,
    `${a}.${low}`,
    `0x${a.toString(16)}.0${b.toString(8)}.${(c << 8) + d}`,
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::${hex.slice(0, 4)}:${hex.slice(4)}]`,
    `${a}.${b}.${c}.${d}.`,
    [...`${a}.${b}.${c}.${d}`]
      .map((char) => (char === '.' ? '。' : String.fromCodePoint(0xff10 + Number(char))))
      .join(''),
  ];
  return forms[form] ?? '';
});

t.test('no spelling of a private address is connected to, listed or not', async (t) => {
  const far = await sink(echo, '0.0.0.0');
  const open = {
    allow: ['*.test', 'localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'].map((host) => `${host}:1-65535`),
  };
  for (const mode of ['enforce', 'report'] as const) {
    const { proxy, port } = await running(policyFile({ ...open, mode }), { limits: LIMITS });
    t.teardown(() => closeAll(proxy, []));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(spelling, fc.constantFrom('localhost', '0', '0.0.0.0', '[::]', '[::1]')),
        async (host) => {
          const text = `${host}:${far.port}`;
          const tunnel = await talk(port, `CONNECT ${text} HTTP/1.1\r\n\r\n`);
          const plain = await talk(port, `GET http://${text}/ HTTP/1.1\r\nHost: ${text}\r\nConnection: close\r\n\r\n`);
          return [tunnel, plain].every((answer) => statusOf(answer) === 403 || statusOf(answer) === 400);
        },
      ),
      { numRuns: 150 },
    );
  }
  t.equal(far.arrivals(), 0);
  far.close();
});

t.test('several addresses: in order, the first that answers', async (t) => {
  const far = await sink(echo);
  t.teardown(() => far.close());
  const attempt = (addresses: string[], limits = { connectMs: 2000, attemptMs: 50 }) =>
    new Promise((resolve) => {
      dial(
        { addresses, port: far.port, limits },
        () => ({}),
        (dialled) => {
          if (dialled.ok) dialled.socket.destroy();
          resolve(dialled);
        },
      );
    });
  t.match(await attempt(['127.0.0.1']), { ok: true, address: '127.0.0.1' });
  t.match(
    await attempt(['127.9.9.9', '127.8.8.8', '127.0.0.1']),
    { ok: true, address: '127.0.0.1' },
    'refused ones first',
  );
  t.match(await attempt(['127.9.9.9', '127.8.8.8']), { ok: false, reason: 'connect-refused' });
  t.match(await attempt(['255.255.255.255']), { ok: false, reason: 'connect-unreachable' });
});

t.test('a slow reader holds up its own far side, not memory', async (t) => {
  let sent = 0;
  const far = await sink((socket) => {
    const chunk = Buffer.alloc(65_536);
    const fill = (): void => {
      while (sent < 200_000_000 && socket.writable) {
        sent += chunk.length;
        if (!socket.write(chunk)) break;
      }
    };
    socket.on('drain', fill);
    fill();
  });
  const { proxy, port } = await running(pinned([far.port]));
  t.teardown(() => closeAll(proxy, [far]));
  const line = await tunnelTo(port, `a.sink.test:${far.port}`);
  line.socket.pause();
  let last = -1;
  while (last !== sent) {
    last = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.ok(sent < 50_000_000, `the far side was held up after ${sent} bytes (kernel buffers)`);
  line.socket.destroy();
  await eventually(() => proxy.open() === 0, 'the tunnel over');
});
