import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { compilePolicy } from '../../../host/egress-proxy/policy.js';
import { rateLimit } from '../../../host/egress-proxy/rate.js';
import { lentBuffers, readBuffer } from '../../../host/egress-proxy/read-buffers.js';
import {
  closeAll,
  echo,
  eventually,
  Line,
  pinned,
  policyFile,
  reasonOf,
  running,
  sink,
  statusOf,
  talk,
  tunnelTo,
} from './support.js';

const LINE_KEYS = [
  'event',
  'id',
  'time',
  'tenant',
  'client',
  'method',
  'host',
  'port',
  'address',
  'verdict',
  'reason',
  'rule',
  'status',
  'duration_ms',
  'bytes_up',
  'bytes_down',
  'dns_ms',
  'connect_ms',
  'ended',
];

t.test('CONNECT', async (t) => {
  const far = await sink(echo);
  const { proxy, port, lines, decisions } = await running(pinned([far.port], { allow: ['example.com'] }));
  t.teardown(() => closeAll(proxy, [far]));

  await t.test('carries bytes both ways and accounts for them', async (t) => {
    const line = await tunnelTo(port, `a.sink.test:${far.port}`);
    line.socket.write('hello');
    t.equal((await line.bytes(5)).toString(), 'hello');
    t.equal(decisions().length, 1, 'the decision is written while the tunnel stands');
    line.socket.end();
    t.equal((await line.toEnd()).length, 0);
    await eventually(() => lines.length === 2, 'an end line');
    const [decision, end] = lines;
    t.same(Object.keys(decision ?? {}), LINE_KEYS);
    t.same(Object.keys(end ?? {}), LINE_KEYS);
    t.match(decision, {
      event: 'decision',
      tenant: 'acme',
      client: /^127\.0\.0\.1:\d+$/,
      method: 'CONNECT',
      host: 'a.sink.test',
      port: far.port,
      address: '127.0.0.1',
      verdict: 'allow',
      reason: 'pinned',
      rule: 'pin *.sink.test',
      status: 200,
      bytes_up: 0,
      dns_ms: 0,
      ended: '',
    });
    t.ok(decision && decision.connect_ms > 0 && decision.connect_ms <= decision.duration_ms);
    t.match(end, { ended: 'closed' });
    t.match(end, { event: 'end', id: decision?.id, bytes_up: 5, bytes_down: 5, status: 200 });
  });

  await t.test('bytes sent together with the head are forwarded', async (t) => {
    const line = await Line.to(port);
    line.socket.write(`CONNECT a.sink.test:${far.port} HTTP/1.1\r\n\r\nearly`);
    t.equal(statusOf(await line.upTo('\r\n\r\n')), 200);
    t.equal((await line.bytes(5)).toString(), 'early');
    line.socket.destroy();
  });

  await t.test('a head that arrives byte by byte', async (t) => {
    const line = await Line.to(port);
    line.socket.setNoDelay(true);
    for (const byte of `CONNECT a.sink.test:${far.port} HTTP/1.1\r\nHost: a.sink.test:${far.port}\r\n\r\nxyz`) {
      line.socket.write(byte);
      await new Promise(setImmediate);
    }
    t.equal(statusOf(await line.upTo('\r\n\r\n')), 200);
    t.equal((await line.bytes(3)).toString(), 'xyz');
    line.socket.destroy();
  });

  await t.test('CONNECT on a connection that served HTTP before', async (t) => {
    const line = await Line.to(port);
    line.socket.write('GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n');
    t.equal(reasonOf(await line.upTo('\r\n\r\n')), 'not-listed');
    await line.upTo('.\n');
    line.socket.write(`CONNECT b.sink.test:${far.port} HTTP/1.1\r\nHost: b.sink.test\r\n\r\nx`);
    t.equal(statusOf(await line.upTo('\r\n\r\n')), 200);
    t.equal((await line.bytes(1)).toString(), 'x');
    line.socket.destroy();
  });
});

const REFUSED: readonly { send: string; status: number; reason: string; why: string }[] = [
  { send: 'CONNECT no.test:443', status: 403, reason: 'not-listed', why: 'not on the list' },
  { send: 'CONNECT a.sink.test:8888', status: 403, reason: 'not-listed', why: 'a pin does not open other ports' },
  { send: 'CONNECT sink.test:443', status: 403, reason: 'not-listed', why: 'the apex of a wildcard' },
  { send: 'CONNECT example.com:8888', status: 403, reason: 'port-not-listed', why: 'another port' },
  { send: 'CONNECT notexample.com:443', status: 403, reason: 'not-listed', why: 'suffix over-match' },
  { send: 'CONNECT example.com', status: 400, reason: 'port-missing', why: 'no port' },
  { send: 'CONNECT example.com:', status: 400, reason: 'port-invalid', why: 'an empty port' },
  { send: 'CONNECT example.com:99999', status: 400, reason: 'port-invalid', why: 'beyond 65535' },
  { send: 'CONNECT example.com:0', status: 400, reason: 'port-invalid', why: 'port 0' },
  { send: 'CONNECT example.com:+443', status: 400, reason: 'port-invalid', why: 'a sign' },
  { send: 'CONNECT [::1]:443', status: 403, reason: 'address-not-listed', why: 'IPv6 loopback' },
  { send: 'CONNECT [example.com]:443', status: 400, reason: 'name-invalid', why: 'brackets around a name' },
  { send: 'CONNECT [[example.com]]:443', status: 400, reason: 'authority-invalid', why: 'double brackets' },
  { send: 'CONNECT [fe80::1%25eth0]:443', status: 400, reason: 'name-invalid', why: 'a zone' },
  { send: 'CONNECT ::1:443', status: 400, reason: 'authority-invalid', why: 'IPv6 without brackets' },
  { send: 'CONNECT u@example.com:443', status: 400, reason: 'authority-userinfo', why: 'user information' },
  { send: 'CONNECT 127.0.0.1:443', status: 403, reason: 'address-not-listed', why: 'an address' },
  { send: 'CONNECT 2130706433:443', status: 403, reason: 'address-spelling', why: 'a decimal address' },
  { send: 'CONNECT /:443', status: 400, reason: 'name-invalid', why: 'a path' },
  { send: 'GET /', status: 400, reason: 'target-not-absolute', why: 'origin form' },
  { send: 'OPTIONS *', status: 400, reason: 'target-not-absolute', why: 'asterisk form' },
  { send: 'GET https://example.com/', status: 400, reason: 'scheme-unsupported', why: 'TLS in absolute form' },
  { send: 'GET ftp://example.com/', status: 400, reason: 'scheme-unsupported', why: 'another scheme' },
  { send: 'GET http://u:p@example.com/', status: 400, reason: 'authority-userinfo', why: 'user information' },
  { send: 'GET http:///', status: 400, reason: 'authority-invalid', why: 'no host' },
  { send: 'GET http://127.1/', status: 403, reason: 'address-spelling', why: 'a short address' },
  { send: 'GET http://no.test/', status: 403, reason: 'not-listed', why: 'not on the list' },
];

const REFUSED_WHOLE: readonly { send: string; status: number; reason: string; why: string }[] = [
  {
    send: 'GET http://a.sink.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n',
    status: 400,
    reason: 'host-mismatch',
    why: 'an allowed URI and another Host',
  },
  {
    send: 'GET http://evil.test/ HTTP/1.1\r\nHost: a.sink.test\r\n\r\n',
    status: 400,
    reason: 'host-mismatch',
    why: 'an allowed Host and another URI',
  },
  {
    send: 'GET http://a.sink.test/ HTTP/1.1\r\nHost: a.sink.test\r\nHost: evil.test\r\n\r\n',
    status: 400,
    reason: 'host-repeated',
    why: 'two Host headers',
  },
  {
    send: 'GET http://a.sink.test/ HTTP/1.1\r\nHost: a.sink.test\r\nhost: a.sink.test\r\n\r\n',
    status: 400,
    reason: 'host-repeated',
    why: 'two equal ones',
  },
  {
    send: 'CONNECT a.sink.test:443 HTTP/1.1\r\nHost: a.sink.test:443\r\nHost: b:443\r\n\r\n',
    status: 400,
    reason: 'host-repeated',
    why: 'two on CONNECT',
  },
  {
    send: 'CONNECT a.sink.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n',
    status: 400,
    reason: 'host-mismatch',
    why: 'CONNECT to one, Host another',
  },
  { send: 'GET http://a.sink.test/ HTTP/1.1\r\n\r\n', status: 400, reason: 'host-missing', why: 'HTTP/1.1 needs Host' },
  { send: 'CONNECT a.test:443\r\n\r\n', status: 400, reason: 'request-malformed', why: 'no version' },
  { send: 'CONNECT a.test:443 HTTP/2.0\r\n\r\n', status: 400, reason: 'request-malformed', why: 'another version' },
  { send: 'CONNECT  a.test:443 HTTP/1.1\r\n\r\n', status: 400, reason: 'request-malformed', why: 'two spaces' },
  {
    send: 'CONNECT a.test:443 HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'a folded line',
  },
  {
    send: 'CONNECT a.test:443 HTTP/1.1\r\nHost : a.test:443\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'space before the colon',
  },
  {
    send: 'CONNECT a.test:443 HTTP/1.1\nHost: b\n\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'bare line feeds',
  },
  {
    send: 'CONNECT a.test\0.sink.test:443 HTTP/1.1\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'NUL in the target',
  },
  {
    send: 'CONNECT a.test:443 HTTP/1.1\r\nX: a\0b\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'NUL in a field',
  },
  {
    send: 'CONNECT a.sink.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello',
    status: 400,
    reason: 'body-unexpected',
    why: 'CONNECT with a body',
  },
  {
    send: `CONNECT a.test:443 HTTP/1.1\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
    status: 431,
    reason: 'request-too-large',
    why: 'a large field',
  },
  {
    send: `CONNECT a.test:443 HTTP/1.1\r\n${'X: a\r\n'.repeat(200)}\r\n`,
    status: 431,
    reason: 'request-too-large',
    why: 'many fields',
  },
  {
    send: `GET http://a.sink.test/ HTTP/1.1\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
    status: 431,
    reason: 'request-too-large',
    why: 'a large field',
  },
  { send: 'rubbish\r\n\r\n', status: 400, reason: 'request-malformed', why: 'not HTTP' },
  {
    send: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    status: 400,
    reason: 'request-malformed',
    why: 'a TLS hello',
  },
  {
    send: 'POST http://a.sink.test/ HTTP/1.1\r\nHost: a.sink.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'both framings: smuggling',
  },
  {
    send: 'GET http://a.sink.test/ HTTP/1.1\r\nHost: a.sink.test\r\nX: a\x7fb\r\n\r\n',
    status: 400,
    reason: 'request-malformed',
    why: 'DEL in a field, which node:http reads and cannot write',
  },
  {
    send: 'GET http://a.sink.test/ HTTP/1.1\r\nHost: a.sink.test\r\nExpect: tea\r\n\r\n',
    status: 417,
    reason: 'expectation-unsupported',
    why: 'an unknown expectation',
  },
];

t.test('refusals: status, reason, one line, nothing of the policy', async (t) => {
  const far = await sink(echo);
  const { proxy, port, lines } = await running(pinned([80, 443, far.port], { allow: ['example.com'] }), {
    world: { lookup: () => Promise.reject(new Error('a refused name was looked up')) },
  });
  t.teardown(() => closeAll(proxy, [far]));
  const whole = REFUSED.map(({ send, ...rest }) => {
    const authority = /^CONNECT (\S+)$/.exec(send)?.[1] ?? /^\w+ \w+:\/\/([^/]*)/.exec(send)?.[1] ?? 'example.com';
    return { ...rest, send: `${send} HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n` };
  });
  for (const { send, status, reason, why } of [...whole, ...REFUSED_WHOLE]) {
    lines.length = 0;
    const answer = await talk(port, Buffer.from(send, 'latin1'), true);
    t.equal(reasonOf(answer), reason, `${why}: ${send.slice(0, 60)}`);
    t.equal(statusOf(answer), status, why);
    t.notMatch(answer.toString().toLowerCase(), /sink\.test/, 'nothing of the policy');
    t.equal(lines.length, 1, `one line: ${why}`);
    t.match(lines[0], { event: 'decision', verdict: 'deny', reason, status }, why);
  }
  t.equal(far.arrivals(), 0);
});

t.test('private targets in every spelling never reach a listener', async (t) => {
  const far = await sink(echo);
  const { proxy, port } = await running(policyFile({ allow: ['example.com', '*.test'], mode: 'report' }), {
    world: { lookup: async () => ['127.0.0.1'] },
  });
  t.teardown(() => closeAll(proxy, [far]));
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ];
  const names = ['localhost', 'rebind.test', 'example.com', '127.0.0.1.', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1'];
  for (const host of [...hosts, ...names]) {
    const answer = await talk(port, `CONNECT ${host}:${far.port} HTTP/1.1\r\n\r\n`);
    t.not(statusOf(answer), 200, host);
    t.match(reasonOf(answer), /^(address-|name-invalid)/, host);
  }
  t.equal(far.arrivals(), 0);
});

t.test('plain HTTP', async (t) => {
  const seen: { url: string; headers: string[]; body: string }[] = [];
  const origin = createHttpServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    seen.push({ url: request.url ?? '', headers: request.rawHeaders, body });
    response.setHeader('Connection', 'keep-alive, X-Private');
    response.setHeader('X-Private', 'hop');
    response.setHeader('X-Kept', 'end');
    response.end(`got ${request.method} ${request.url} ${body}`);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const far = (origin.address() as AddressInfo).port;
  const { proxy, port, lines, decisions } = await running(pinned([far], { allow: ['example.com'] }));
  t.teardown(() => closeAll(proxy, [origin]));
  const url = `http://w.sink.test:${far}`;
  const host = `w.sink.test:${far}`;

  await t.test('forwards in origin form, without hop-by-hop fields, both ways', async (t) => {
    const answer = await talk(
      port,
      `GET ${url}/a?b=c HTTP/1.1\r\nHost: ${host}\r\nX-Secret: 1\r\nConnection: close, x-secret\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\nX-End: 1\r\n\r\n`,
    );
    t.equal(statusOf(answer), 200);
    t.match(answer.toString(), /got GET \/a\?b=c $/);
    t.match(answer.toString(), /^X-Kept: end\r$/m);
    t.notMatch(answer.toString(), /X-Private/i);
    const headers = seen.at(-1)?.headers ?? [];
    const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    t.same([...names].sort(), ['connection', 'host', 'via', 'x-end']);
    t.equal(headers[headers.indexOf('Host') + 1], host);
  });

  await t.test('a body with a length, and a chunked one', async (t) => {
    const head = `POST ${url}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;
    t.match((await talk(port, `${head}Content-Length: 5\r\n\r\nhello`)).toString(), /got POST \/ hello$/);
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n`;
    t.match((await talk(port, chunked)).toString(), /got POST \/ abcdef$/);
    t.equal(seen.at(-1)?.body, 'abcdef');
  });

  await t.test('Expect: 100-continue is for the far side to answer', async (t) => {
    const line = await Line.to(port);
    line.socket.write(`POST ${url}/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
    t.match(await line.upTo('\r\n\r\n'), /^HTTP\/1\.1 100 /);
    line.socket.write('ok');
    t.match(await line.upTo('ok'), /got POST \/ ok$/);
    line.socket.destroy();
    const refused = await talk(
      port,
      'POST http://no.test/ HTTP/1.1\r\nHost: no.test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
      true,
    );
    t.match(refused.toString(), /^HTTP\/1\.1 403 /, 'no 100 before the refusal');
  });

  await t.test('each request of a kept connection is decided anew', async (t) => {
    lines.length = 0;
    const line = await Line.to(port);
    line.socket.write(`GET ${url}/1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    t.match(await line.upTo('got GET /1 '), /^HTTP\/1\.1 200 /);
    line.socket.write('GET http://no.test/ HTTP/1.1\r\nHost: no.test\r\n\r\n');
    t.equal(reasonOf(await line.upTo('.\n')), 'not-listed');
    line.socket.write(`GET ${url}/2 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    t.match(await line.upTo('got GET /2 '), /^HTTP\/1\.1 200 /);
    line.socket.destroy();
    t.same(
      decisions().map(({ verdict, reason, status }) => [verdict, reason, status]),
      [
        ['allow', 'pinned', 200],
        ['deny', 'not-listed', 403],
        ['allow', 'pinned', 200],
      ],
    );
  });

  await t.test('HTTP/1.0 without Host, and HEAD', async (t) => {
    t.match((await talk(port, `GET ${url}/old HTTP/1.0\r\n\r\n`)).toString(), /got GET \/old /);
    const answer = await talk(port, `HEAD ${url}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    t.match(answer.toString(), /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/);
  });

  await t.test('a refused body is read away and the connection goes on', async (t) => {
    const line = await Line.to(port);
    const body = 'x'.repeat(100_000);
    line.socket.write(
      `POST http://no.test/ HTTP/1.1\r\nHost: no.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    t.equal(reasonOf(await line.upTo('.\n')), 'not-listed');
    line.socket.write(`GET ${url}/after HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    t.match(await line.upTo('/after '), /^HTTP\/1\.1 200 /);
    line.socket.destroy();
  });

  await t.test('pipelined requests are answered in order', async (t) => {
    const one = (path: string, end: string): string => `GET ${url}/${path} HTTP/1.1\r\nHost: ${host}\r\n${end}\r\n`;
    const answer = (await talk(port, one('p1', '') + one('p2', '') + one('p3', 'Connection: close\r\n'))).toString();
    t.same(answer.match(/got GET \/p\d/g), ['got GET /p1', 'got GET /p2', 'got GET /p3']);
  });
});

t.test('faults of the far side', async (t) => {
  const silent = await sink(() => {});
  const closing = await sink((socket) => socket.end());
  const resetting = await sink((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const rubbish = await sink((socket) => socket.end('SMTP ready\r\n'));
  const half = await sink((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    socket.once('data', () => socket.end());
  });
  const raw = (answer: string) => sink((socket) => socket.end(Buffer.from(answer, 'latin1')));
  const control = await raw('HTTP/1.1 200 OK\r\nX: a\x7fb\r\nContent-Length: 0\r\n\r\n');
  const low = await raw('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n');
  const switching = await raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
  const smuggling = await raw('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc');
  const early = await raw('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
  const gone = await sink(() => {});
  gone.close();
  const sinks = [silent, closing, resetting, rubbish, half, control, low, switching, smuggling, early, gone];
  const { proxy, port, lines } = await running(
    pinned(
      sinks.map((one) => one.port),
      { allow: ['nx.test', 'slow.test'] },
    ),
    {
      limits: { answerMs: 200, resolveMs: 100 },
      world: { lookup: (name) => (name === 'nx.test' ? Promise.reject(new Error('no')) : new Promise(() => {})) },
    },
  );
  t.teardown(() => closeAll(proxy, sinks));
  const table: readonly { target: string; connect?: string; status: number; reason: string }[] = [
    { target: `x.sink.test:${gone.port}`, status: 502, reason: 'connect-refused' },
    { target: `x.sink.test:${closing.port}`, status: 502, reason: 'upstream-closed' },
    { target: `x.sink.test:${resetting.port}`, status: 502, reason: 'upstream-closed' },
    { target: `x.sink.test:${rubbish.port}`, status: 502, reason: 'upstream-malformed' },
    { target: `x.sink.test:${control.port}`, status: 502, reason: 'upstream-malformed' },
    { target: `x.sink.test:${low.port}`, status: 502, reason: 'upstream-malformed' },
    { target: `x.sink.test:${switching.port}`, status: 502, reason: 'upstream-malformed' },
    { target: `x.sink.test:${smuggling.port}`, status: 502, reason: 'upstream-malformed' },
    { target: `x.sink.test:${silent.port}`, status: 504, reason: 'upstream-timeout' },
    { target: 'nx.test', status: 502, reason: 'resolve-failed' },
    { target: 'slow.test', status: 504, reason: 'resolve-timeout' },
  ];
  for (const { target, status, reason } of table) {
    lines.length = 0;
    const answer = await talk(port, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`);
    t.equal(reasonOf(answer), reason, target);
    t.equal(statusOf(answer), status, target);
    t.match(lines[0], { event: 'decision', verdict: 'allow', reason, status });
    t.equal(lines.filter((line) => line.event === 'decision').length, 1);
  }
  const refused = await talk(port, `CONNECT x.sink.test:${gone.port} HTTP/1.1\r\n\r\n`);
  t.equal(reasonOf(refused), 'connect-refused');
  const cut = await talk(
    port,
    `GET http://x.sink.test:${half.port}/ HTTP/1.1\r\nHost: x.sink.test:${half.port}\r\n\r\n`,
  );
  t.match(cut.toString(), /\r\n\r\nhalf$/, 'a cut answer is cut, not completed');
  const target = `x.sink.test:${early.port}`;
  const large = `POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nContent-Length: 5000000\r\n\r\n`;
  const answered = await Line.to(port);
  answered.socket.write(large + 'x'.repeat(100_000));
  t.match(await answered.upTo('\r\n\r\nno'), /^HTTP\/1\.1 413 /, 'an early answer arrives');
  answered.socket.destroy();
  await eventually(() => proxy.open() === 0, 'all connections closed');
});

t.test('tunnels end as their sides do', async (t) => {
  const far = await sink(echo);
  const speaksFirst = await sink((socket) => socket.write('banner\r\n'));
  const endsFirst = await sink((socket) => {
    socket.end('bye');
    socket.resume();
  });
  const drip = await sink((socket) => {
    socket.on('data', () => {});
    socket.on('end', () => socket.end(Buffer.alloc(1_000_000, 7)));
  });
  const { proxy, port, lines } = await running(pinned([far, speaksFirst, endsFirst, drip].map((one) => one.port)), {
    limits: { halfClosedMs: 2000 },
  });
  t.teardown(() => closeAll(proxy, [far, speaksFirst, endsFirst, drip]));

  await t.test('a far side that speaks first', async (t) => {
    const line = await tunnelTo(port, `s.sink.test:${speaksFirst.port}`);
    t.equal(await line.upTo('\r\n'), 'banner\r\n');
    line.socket.destroy();
  });
  await t.test('the client ends its half, the answer still comes whole', async (t) => {
    const line = await tunnelTo(port, `s.sink.test:${drip.port}`);
    line.socket.end('question');
    t.equal((await line.toEnd()).length, 1_000_000);
  });
  await t.test('a far side that ended, and a client that never does: the tunnel goes', async (t) => {
    const line = await tunnelTo(port, `s.sink.test:${endsFirst.port}`);
    t.equal((await line.toEnd()).toString(), 'bye');
    await eventually(() => proxy.open() === 0, 'the half-closed tunnel is gone');
    line.socket.destroy();
  });
  await t.test('resets at any moment', async (t) => {
    for (let round = 0; round < 60; round++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      if (round % 4 > 0) socket.write(`CONNECT r.sink.test:${far.port} HTTP/1.1\r\n${round % 4 > 1 ? '\r\n' : ''}`);
      if (round % 4 === 3) await new Promise((resolve) => socket.once('data', resolve));
      if (round % 2) await new Promise(setImmediate);
      socket.resetAndDestroy();
    }
    await eventually(() => proxy.open() === 0, 'all gone');
    const line = await tunnelTo(port, `r.sink.test:${far.port}`);
    line.socket.write('alive');
    t.equal((await line.bytes(5)).toString(), 'alive');
    line.socket.destroy();
  });
  await eventually(() => proxy.open() === 0, 'all tunnels closed');
  const ids = lines.filter((line) => line.event === 'decision' && line.status === 200).map((line) => line.id);
  await eventually(() => lines.filter((line) => line.event === 'end').length === ids.length, 'an end for each tunnel');
});

const digest = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

t.test('50 tunnels at once carry every byte', async (t) => {
  const far = await sink(echo);
  const { proxy, port } = await running(pinned([far.port]));
  t.teardown(() => closeAll(proxy, [far]));
  const equal = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const data = randomBytes(500_000);
      const line = await tunnelTo(port, `p.sink.test:${far.port}`);
      line.socket.end(data);
      return digest(await line.toEnd()) === digest(data);
    }),
  );
  t.equal(equal.filter(Boolean).length, 50);
});

t.test('readers that stop and go get every byte, each its own', async (t) => {
  const sources = Array.from({ length: 8 }, () => randomBytes(8_000_000));
  const far = await sink((socket) => {
    socket.once('data', (which: Buffer) => socket.end(sources[which[0] ?? 0] ?? ''));
  });
  const { proxy, port } = await running(pinned([far.port]));
  t.teardown(() => closeAll(proxy, [far]));
  const equal = await Promise.all(
    sources.map(async (source, index) => {
      const line = await tunnelTo(port, `p.sink.test:${far.port}`);
      line.socket.write(Buffer.of(index));
      const stutter = setInterval(() => (line.socket.isPaused() ? line.socket.resume() : line.socket.pause()), 15);
      line.socket.pause();
      const hash = createHash('sha256');
      line.socket.on('data', (chunk: Buffer) => hash.update(chunk));
      await new Promise((resolve) => line.socket.once('end', resolve));
      clearInterval(stutter);
      line.socket.end();
      return hash.digest('hex') === digest(source);
    }),
  );
  t.same(equal, Array(8).fill(true));
});

t.test('limits have their own answers', async (t) => {
  const far = await sink(echo);
  const { proxy, port, lines } = await running(pinned([far.port]), {
    limits: { connections: 2, headMs: 300 },
  });
  t.teardown(() => closeAll(proxy, [far]));
  const loris = await Promise.all([talk(port, 'CONNECT a.sink'), talk(port, 'GET http://a.sink')]);
  for (const answer of loris) t.equal(reasonOf(answer), 'request-timeout');
  const tunnels = [await tunnelTo(port, `a.sink.test:${far.port}`), await tunnelTo(port, `a.sink.test:${far.port}`)];
  const refused = await Promise.all([1, 2, 3].map(() => talk(port, 'GET / HTTP/1.1\r\n\r\n')));
  for (const answer of refused) {
    t.equal(reasonOf(answer), 'limit-connections');
    t.match(answer.toString(), /^retry-after: 1\r$/m);
  }
  for (const line of tunnels) line.socket.destroy();
  await eventually(() => proxy.open() === 0, 'all gone');
  (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
  t.match(
    lines.filter(({ event }) => event === 'decision').map((line) => line.reason),
    ['request-timeout', 'request-timeout', 'pinned', 'pinned', ...Array(3).fill('limit-connections'), 'pinned'],
  );
});

t.test('requests a second', async (t) => {
  let now = 0;
  let rate = 4;
  const may = rateLimit(
    () => rate,
    () => now,
  );
  const granted = (count: number): number => Array.from({ length: count }, () => may()).filter(Boolean).length;
  t.equal(granted(10), 4, "a second's worth at once");
  now += 500;
  t.equal(granted(10), 2, 'and then as time goes');
  now += 60_000;
  t.equal(granted(10), 4, 'what was not used is not saved up');
  rate = 2;
  now += 60_000;
  t.equal(granted(10), 2, 'a new rate counts from then on');

  const far = await sink(echo);
  const { proxy, port, decisions } = await running(pinned([far.port]), { limits: { requestsPerSecond: 3 } });
  t.teardown(() => closeAll(proxy, [far]));
  const standing = await tunnelTo(port, `a.sink.test:${far.port}`);
  const asked = `${'GET http://no.test/ HTTP/1.1\r\nHost: no.test\r\n\r\n'.repeat(5)}`;
  const line = await Line.to(port);
  line.socket.end(asked);
  const answers = (await line.toEnd()).toString();
  t.same(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 403', 'HTTP/1.1 403', ...Array(3).fill('HTTP/1.1 429')]);
  t.equal(decisions().filter(({ reason }) => reason === 'limit-requests').length, 3, 'each has its line');
  standing.socket.write('on');
  t.equal((await standing.bytes(2)).toString(), 'on', 'tunnels that stand are not requests');
  standing.socket.destroy();
});

t.test("a policy's own limits count from its reload on", async (t) => {
  const far = await sink(echo);
  const { proxy, port } = await running(pinned([far.port]), { limits: { connections: 1, requestsPerSecond: 1000 } });
  t.teardown(() => closeAll(proxy, [far]));
  const authority = `a.sink.test:${far.port}`;
  const first = await tunnelTo(port, authority);
  t.equal(reasonOf(await talk(port, 'GET / HTTP/1.1\r\n\r\n')), 'limit-connections');
  proxy.setPolicy(compilePolicy(pinned([far.port], { limits: { connections: 2, requests_per_second: 1 } })));
  const second = await tunnelTo(port, authority);
  t.equal(reasonOf(await talk(port, 'GET / HTTP/1.1\r\n\r\n')), 'limit-connections');
  second.socket.destroy();
  await eventually(() => proxy.open() === 1, 'the second over');
  t.equal(reasonOf(await talk(port, `CONNECT ${authority} HTTP/1.1\r\n\r\n`)), 'limit-requests');
  first.socket.destroy();
});

t.test('fields beyond their number are refused, not dropped', async (t) => {
  const { proxy, port } = await running(policyFile({ allow: ['example.com'] }));
  t.teardown(() => closeAll(proxy, []));
  for (const count of [101, 2500]) {
    const fields = 'X: a\r\n'.repeat(count);
    const get = `GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n${fields}Connection: close\r\n\r\n`;
    t.equal(reasonOf(await talk(port, get)), 'request-too-large', `${count} fields`);
  }
});

t.test('who stops in the middle of a body is told so, and who waits is not', async (t) => {
  const slow = createHttpServer((request, response) => {
    request.resume();
    request.on('end', () => setTimeout(() => response.end('late'), 400));
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const far = (slow.address() as AddressInfo).port;
  // Takes the head, then nothing: no 100, no body.
  const deaf = await sink((socket) => socket.pause());
  const { proxy, port, decisions } = await running(pinned([far, deaf.port]), {
    limits: { bodyMs: 150, answerMs: 1000 },
  });
  t.teardown(() => closeAll(proxy, [slow, deaf]));
  const post = (to: number, extra = '') =>
    `POST http://b.sink.test:${to}/ HTTP/1.1\r\nHost: b.sink.test:${to}\r\nConnection: close\r\n${extra}`;
  t.equal(reasonOf(await talk(port, `${post(far)}Content-Length: 5\r\n\r\nhe`)), 'body-timeout', 'with a length');
  t.equal(
    reasonOf(await talk(port, `${post(far)}Transfer-Encoding: chunked\r\n\r\n3\r\nab`)),
    'body-timeout',
    'chunked',
  );
  t.match(
    (await talk(port, `${post(far)}Content-Length: 2\r\n\r\nok`)).toString(),
    /late$/,
    'the far side takes its time',
  );
  const waiting = `${post(deaf.port)}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`;
  t.equal(reasonOf(await talk(port, waiting)), 'upstream-timeout', 'the far side never said 100');
  const large = `${post(deaf.port)}Content-Length: 20000000\r\n\r\n`;
  t.equal(reasonOf(await talk(port, large + 'x'.repeat(20_000_000))), 'upstream-timeout', 'the far side reads nothing');
  t.same(
    decisions().map(({ status }) => status),
    [408, 408, 200, 504, 504],
  );
});

t.test('a tunnel that is silent for too long ends', async (t) => {
  const far = await sink(echo);
  const { proxy, port, lines } = await running(pinned([far.port]), { limits: { idleMs: 200 } });
  t.teardown(() => closeAll(proxy, [far]));
  const line = await tunnelTo(port, `i.sink.test:${far.port}`);
  t.equal((await line.toEnd()).length, 0);
  await eventually(() => lines.length === 2, 'its end line');
  t.match(lines[1], { event: 'end', ended: 'idle' });
});

t.test('a large read buffer is lent while much arrives', async (t) => {
  const buffer = readBuffer();
  const [small, large] = [4096, 65_536];
  const steps: readonly [step: () => void, next: number, lent: number, why: string][] = [
    [() => {}, small, 0, 'at first'],
    [() => buffer.used(100, true), small, 0, 'a little'],
    [() => buffer.used(small, true), large, 1, 'as much as fits'],
    [() => buffer.used(large, true), large, 1, 'and on'],
    [() => buffer.used(large, false), small, 1, 'a slow client: the large one is still written from'],
    [() => buffer.flushed(), small, 0, 'and given back when it is empty'],
    [() => buffer.used(small, false), small, 0, 'slow again, from the small one'],
    [() => buffer.flushed(), small, 0, 'which is always there'],
    [() => buffer.used(small, true), large, 1, 'much again'],
    [() => buffer.used(10, true), small, 0, 'the end of it'],
    [() => buffer.used(small, true), large, 1, 'once more'],
    [() => buffer.release(), small, 0, 'over'],
  ];
  for (const [step, next, lent, why] of steps) {
    step();
    t.equal(buffer.next().length, next, why);
    t.equal(lentBuffers(), lent, why);
  }
});

t.test('a tunnel whose last read met a slow client keeps no large buffer', async (t) => {
  const far = await sink((socket) => {
    socket.once('data', () => socket.write(Buffer.alloc(4_000_000)));
  });
  const { proxy, port } = await running(pinned([far.port]));
  t.teardown(() => closeAll(proxy, [far]));
  const lines = await Promise.all(Array.from({ length: 10 }, () => tunnelTo(port, `m.sink.test:${far.port}`)));
  for (const line of lines) line.socket.pause();
  for (const line of lines) line.socket.write('go');
  for (const line of lines) line.socket.resume();
  await Promise.all(lines.map((line) => line.bytes(4_000_000)));
  await eventually(() => lentBuffers() === 0, 'all are given back');
  t.equal(proxy.open(), 10, 'while the tunnels stand');
  for (const line of lines) line.socket.destroy();
});
