import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import t from 'tap';
import lineSchema from '../../../docs/schema/proxy-line-1.schema.json' with { type: 'json' };
import statusSchema from '../../../docs/schema/proxy-status-1.schema.json' with { type: 'json' };
import type { DecisionLine } from '../../../host/egress-proxy/decision-line.js';
import { shareDescriptors } from '../../../host/egress-proxy/descriptors.js';
import { REASONS } from '../../../host/egress-proxy/reasons.js';
import type { ProxyStatus } from '../../../host/egress-proxy/status.js';
import { echo, eventually, Line, pinned, policyFile, reasonOf, sink, statusOf, talk, tunnelTo } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'egress-proxy-'));
const program = join(folder, 'proxy.mjs');
const policyPath = join(folder, 'policy.json');
t.teardown(() => rmSync(folder, { recursive: true }));

/** As the host's bundle is made; the entry catches as the host's command does. */
await build({
  stdin: {
    contents: `import { runEgressProxy } from './host/egress-proxy/main.ts';
      import { Failure } from './core/failure.ts';
      runEgressProxy(JSON.parse(process.argv[2])).catch((error) => {
        if (!(error instanceof Failure)) throw error;
        console.error(error.message);
        process.exitCode = error.exit;
      });`,
    resolveDir: process.cwd(),
    loader: 'ts',
  },
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18.19',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'silent',
});

/** A listening socket as a service manager holds it: bound, listening, nobody accepts. */
async function heldSocket(): Promise<{ server: Server; fd: number; port: number }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handle: unknown = Reflect.get(server, '_handle');
  const fd = typeof handle === 'object' && handle !== null ? Number(Reflect.get(handle, 'fd')) : -1;
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  return { server, fd, port: address.port };
}

interface Started {
  readonly child: ChildProcess;
  readonly lines: DecisionLine[];
  readonly notes: string[];
  readonly exited: Promise<unknown[]>;
}

/** Passes the socket as descriptor 3, with the process id that sd_listen_fds(3) asks for. */
function start(fd: number, options: Record<string, unknown> = {}, listenPid = '$$', before = ''): Started {
  const script = `${before}LISTEN_FDS=1 LISTEN_PID=${listenPid} exec "$0" "$1" "$2"`;
  const child = spawn(
    '/bin/sh',
    ['-c', script, process.execPath, program, JSON.stringify({ policyPath, ...options })],
    {
      stdio: ['ignore', 'pipe', 'pipe', fd],
      env: { PATH: process.env.PATH },
    },
  );
  const lines: DecisionLine[] = [];
  const notes: string[] = [];
  if (child.stdout) createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
  if (child.stderr) createInterface(child.stderr).on('line', (line) => notes.push(line));
  return { child, lines, notes, exited: once(child, 'exit') };
}

async function started(fd: number, options: Record<string, unknown> = {}, before = ''): Promise<Started> {
  const one = start(fd, options, '$$', before);
  await eventually(() => one.notes.some((note) => note.includes('listening on')), 'listening');
  return one;
}

const descriptors = (pid: number | undefined): number => readdirSync(`/proc/${pid}/fd`).length;
const writePolicy = (value: unknown): void =>
  writeFileSync(policyPath, typeof value === 'string' ? value : JSON.stringify(value));

const far = await sink(echo);
const held = await heldSocket();
t.teardown(() => far.close());

t.test('serves the inherited socket; SIGTERM drains, connections wait for the next process', async (t) => {
  writePolicy(pinned([far.port], { allow: ['example.com'] }));
  const first = await started(held.fd);
  // From here on the children alone accept.
  held.server.close();
  const line = await tunnelTo(held.port, `a.sink.test:${far.port}`);
  await eventually(() => first.lines.length === 1, 'the line comes while the tunnel stands');
  t.match(first.lines, [{ event: 'decision', reason: 'pinned' }]);
  const idle = await tunnelTo(held.port, `a.sink.test:${far.port}`);
  first.child.kill('SIGTERM');
  idle.socket.end();
  line.socket.write('still here');
  t.equal((await line.bytes(10)).toString(), 'still here', 'an open tunnel goes on while draining');
  line.socket.end();
  t.same(await first.exited, [0, null]);
  const ends = () => first.lines.filter((one) => one.event === 'end').length;
  await eventually(() => ends() >= 2, 'what was written before the exit is read after it');
  t.equal(ends(), 2, 'all lines were out before the exit');
});

t.test('an idle tunnel is cut off at the deadline, and the exit is clean', async (t) => {
  const { server, fd, port } = await heldSocket();
  const one = await started(fd, { drainMs: 100 });
  server.close();
  const line = await tunnelTo(port, `a.sink.test:${far.port}`);
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
  t.equal((await line.toEnd()).length, 0);
});

t.test('who may not start', async (t) => {
  const { server, fd } = await heldSocket();
  t.teardown(() => server.close());
  await t.test('a socket meant for another process', async (t) => {
    const one = start(fd, {}, '1');
    t.same(await one.exited, [64, null]);
    t.match(one.notes.join('\n'), /no listening socket/);
  });
  const bad: readonly { text: unknown; says: RegExp; why: string }[] = [
    { text: '{', says: /expected JSON/, why: 'not JSON' },
    { text: { ...policyFile({}), version: 2 }, says: /\/version: 2/, why: 'another version' },
    { text: { ...policyFile({}), alow: [] }, says: /\/alow/, why: 'an unknown key' },
    { text: policyFile({ allow: ['*'] }), says: /\/allow\/0/, why: 'everything' },
    { text: policyFile({ allow: ['0x7f.1'] }), says: /dotted decimal/, why: 'an odd spelling' },
    { text: { ...policyFile({}), methods: ['CONNECT'] }, says: /\/methods\/0/, why: 'a method that tunnels' },
    {
      text: { ...policyFile({}), limits: { conections: 1 } },
      says: /\/limits\/conections/,
      why: 'a limit that is none',
    },
    { text: { ...policyFile({}), limits: { connections: 0 } }, says: /\/limits\/connections/, why: 'no connection' },
    { text: { ...policyFile({}), methods: [] }, says: /\/methods/, why: 'no method at all' },
    { text: { ...policyFile({}), sni: true }, says: /\/sni/, why: 'TLS names neither enforced nor not' },
    { text: { ...policyFile({}), mode: 'off' }, says: /\/mode/, why: 'an unknown mode' },
  ];
  for (const { text, says, why } of bad) {
    writePolicy(text);
    const one = start(fd);
    t.same(await one.exited, [78, null], why);
    t.match(one.notes.join('\n'), says, why);
    t.notMatch(one.notes.join('\n'), /^ +at /m, 'no stack trace');
  }
});

t.test('without a policy, and with an empty one, everything is denied, loudly', async (t) => {
  for (const { write, reason } of [
    { write: () => rmSync(policyPath), reason: 'policy-missing' },
    { write: () => writePolicy(policyFile({})), reason: 'policy-empty' },
  ]) {
    write();
    const { server, fd, port } = await heldSocket();
    const one = await started(fd);
    server.close();
    t.equal(reasonOf(await talk(port, 'CONNECT example.com:443 HTTP/1.1\r\n\r\n')), reason);
    t.match(one.notes.join('\n'), /WARNING.*denied/);
    one.child.kill('SIGTERM');
    t.same(await one.exited, [0, null]);
  }
});

t.test('SIGHUP: a good policy takes over, a bad one is refused, tunnels stay', async (t) => {
  writePolicy(pinned([far.port]));
  const { server, fd, port } = await heldSocket();
  const one = await started(fd);
  server.close();
  const line = await tunnelTo(port, `a.sink.test:${far.port}`);
  writePolicy('rubbish');
  one.child.kill('SIGHUP');
  await eventually(() => one.notes.some((note) => note.includes('the one before stays')), 'the refusal');
  (await tunnelTo(port, `b.sink.test:${far.port}`)).socket.destroy();
  writePolicy(policyFile({ allow: ['example.com'] }));
  one.child.kill('SIGHUP');
  await eventually(() => one.notes.some((note) => note.includes('read again')), 'the reload');
  t.equal(reasonOf(await talk(port, `CONNECT a.sink.test:${far.port} HTTP/1.1\r\n\r\n`)), 'not-listed');
  line.socket.write('open');
  t.equal((await line.bytes(4)).toString(), 'open');
  line.socket.destroy();
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
});

t.test('descriptors run out: whoever comes is answered, and what stands goes on', async (t) => {
  t.same(shareDescriptors(65_536), { served: 32_672, answered: 64 }, 'as the unit has it');
  t.same(shareDescriptors(null), { served: Number.POSITIVE_INFINITY, answered: 64 });
  writePolicy(pinned([far.port]));
  const { server, fd, port } = await heldSocket();
  const one = await started(fd, {}, 'ulimit -n 128; ');
  server.close();
  const answers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const line = await Line.to(port);
      line.socket.write(`CONNECT d.sink.test:${far.port} HTTP/1.1\r\n\r\n`);
      return { line, head: await line.upTo('\r\n\r\n') };
    }),
  );
  const standing = answers.filter(({ head }) => statusOf(head) === 200);
  t.ok(standing.length >= 20, `${standing.length} tunnels stand`);
  const others = answers.filter(({ head }) => statusOf(head) !== 200);
  t.same([...new Set(others.map(({ head }) => reasonOf(head)))], ['limit-descriptors'], 'each of the others is told');
  for (const { line } of standing) line.socket.write('alive');
  for (const { line } of standing) t.equal((await line.bytes(5)).toString(), 'alive');
  for (const { line } of answers) line.socket.destroy();
  await eventually(() => descriptors(one.child.pid) < 64, 'descriptors are back');
  (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
});

const ajv = new Ajv2020({ allErrors: true });
const isLine = ajv.compile(lineSchema);
const isStatus = ajv.compile(statusSchema);

/** One request on a unix socket. */
function ask(socketPath: string, path: string, method = 'GET'): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method, agent: false }, async (answer) => {
      let body = '';
      for await (const chunk of answer) body += chunk;
      resolve({ status: answer.statusCode ?? 0, body });
    });
    sent.on('error', reject);
    sent.end();
  });
}

t.test('metrics and status say what happened', async (t) => {
  t.strictSame(lineSchema.properties.reason.enum, Object.keys(REASONS), 'the published reasons are those there are');
  writePolicy(pinned([far.port], { allow: ['example.com'] }));
  const { server, fd, port } = await heldSocket();
  const socketPath = join(folder, 'status.sock');
  writeFileSync(socketPath, 'left by another process');
  const one = await started(fd, { statusPath: socketPath });
  server.close();
  await eventually(
    () => statSync(socketPath).isSocket() && (statSync(socketPath).mode & 0o777) === 0o660,
    'its socket',
  );
  const status = async (): Promise<ProxyStatus> => JSON.parse((await ask(socketPath, '/status')).body);
  const metric = async (sample: string): Promise<number> => {
    const { body } = await ask(socketPath, '/metrics');
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`watertight_proxy_${sample} `))
        ?.split(' ')
        .at(-1),
    );
  };

  const sha256 = (): string => createHash('sha256').update(readFileSync(policyPath)).digest('hex');
  t.match(await status(), { tenant: 'acme', policy: { mode: 'enforce', digest: sha256() }, open: { tunnels: 0 } });
  t.equal(await metric(`info{tenant="acme",mode="enforce",policy_sha256="${sha256()}"}`), 1);
  t.equal(await metric('requests_total{tenant="acme",verdict="deny",reason="not-listed"}'), 0, 'there before its time');

  const line = await tunnelTo(port, `a.sink.test:${far.port}`);
  for (let count = 0; count < 3; count++) await talk(port, 'CONNECT no.test:443 HTTP/1.1\r\n\r\n');
  t.match(await status(), {
    open: { connections: 1, tunnels: 1 },
    decisions: { allow: { pinned: 1 }, deny: { 'not-listed': 3 } },
  });
  t.equal(await metric('requests_total{tenant="acme",verdict="deny",reason="not-listed"}'), 3);
  t.equal(await metric('tunnels{tenant="acme"}'), 1);
  line.socket.end('four');
  await line.toEnd();
  await eventually(() => one.lines.length === 5, 'the end line');
  t.match(await status(), { open: { tunnels: 0 }, bytes: { up: 4, down: 4 } });

  writePolicy('rubbish');
  const before = (await status()).policy.digest;
  one.child.kill('SIGHUP');
  await eventually(() => one.notes.some((note) => note.includes('the one before stays')), 'the refusal');
  t.match(await status(), { policy: { digest: before, reloads: { accepted: 0, refused: 1, refusal: /JSON/ } } });
  t.equal(await metric('policy_reload_refused{tenant="acme"}'), 1, 'an alarm while an older policy is in force');
  writePolicy(pinned([far.port], { mode: 'report' }));
  one.child.kill('SIGHUP');
  await eventually(() => one.notes.some((note) => note.includes('read again')), 'the reload');
  const after = await status();
  t.match(after, { policy: { mode: 'report', digest: sha256(), reloads: { accepted: 1, refused: 1, refusal: null } } });

  t.ok(isStatus(after), ajv.errorsText(isStatus.errors));
  for (const written of one.lines) t.ok(isLine(written), ajv.errorsText(isLine.errors));
  const { body } = await ask(socketPath, '/metrics');
  const shape =
    /^(?:# (?:HELP|TYPE) watertight_proxy_[a-z_]+ .+|watertight_proxy_[a-z_]+\{[a-z0-9_]+="[^"\\]*"(?:,[a-z0-9_]+="[^"\\]*")*\} [\d.]+|)$/;
  t.same(
    body.split('\n').filter((text) => !shape.test(text)),
    [],
    'Prometheus text',
  );
  t.equal((await ask(socketPath, '/status', 'POST')).status, 405);
  t.equal((await ask(socketPath, '/../etc/passwd')).status, 404);

  // Who asks, and then says nothing more, does not hold up the end.
  const silent = connect(socketPath);
  silent.on('error', () => {});
  await once(silent, 'connect');
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
});

t.test('without its status socket it runs all the same, and says so', async (t) => {
  writePolicy(pinned([far.port]));
  const { server, fd, port } = await heldSocket();
  const one = await started(fd, { statusPath: join(folder, 'absent', 'status.sock') });
  server.close();
  await eventually(() => one.notes.some((note) => note.includes('WARNING: no metrics')), 'the warning');
  (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
});

/** A service manager in small: holds the socket, starts the program anew each time it ends. */
function managed(fd: number): { manager: ChildProcess; pids: number[]; ended: Promise<unknown[]> } {
  const once_ = `echo pid $$ >&2; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$1" "$2"`;
  const script = `while [ -e "$3" ]; do sh -c '${once_}' "$0" "$1" "$2"; done`;
  const manager = spawn(
    '/bin/sh',
    ['-c', script, process.execPath, program, JSON.stringify({ policyPath, drainMs: 500 }), policyPath],
    { stdio: ['ignore', 'ignore', 'pipe', fd] },
  );
  const pids: number[] = [];
  if (manager.stderr) {
    createInterface(manager.stderr).on('line', (line) => {
      if (line.startsWith('pid ')) pids.push(Number(line.slice(4)));
    });
  }
  return { manager, pids, ended: once(manager, 'exit') };
}

t.test('restarts behind the socket and reloads under load: not one connection is refused', async (t) => {
  writePolicy(pinned([far.port]));
  const { server, fd, port } = await heldSocket();
  const { pids, ended } = managed(fd);
  server.close();
  let answered = 0;
  let stop = false;
  const broken: string[] = [];
  const client = async (): Promise<void> => {
    while (!stop) {
      try {
        const line = await tunnelTo(port, `r.sink.test:${far.port}`);
        line.socket.end('whole');
        const back = (await line.toEnd()).toString();
        if (back !== 'whole') broken.push(`cut: ${back}`);
      } catch (error) {
        broken.push(String(error));
      }
      answered += 1;
    }
  };
  const clients = Array.from({ length: 8 }, client);
  /** Some requests later. */
  const served = async (count: number): Promise<void> => {
    const until = answered + count;
    await eventually(() => answered >= until, 'requests go on');
  };
  await served(50);
  const standing = await tunnelTo(port, `s.sink.test:${far.port}`);
  for (let reload = 0; reload < 20; reload++) {
    process.kill(pids.at(-1) ?? 0, 'SIGHUP');
    await served(10);
  }
  standing.socket.end('through 20 reloads');
  t.equal((await standing.toEnd()).toString(), 'through 20 reloads');
  t.equal(pids.length, 1, 'a reload is no restart');
  for (let restart = 1; restart <= 4; restart++) {
    process.kill(pids.at(-1) ?? 0, 'SIGTERM');
    await eventually(() => pids.length === restart + 1, 'the next process');
    await served(50);
  }
  stop = true;
  await Promise.all(clients);
  t.strictSame(broken, []);
  rmSync(policyPath);
  process.kill(pids.at(-1) ?? 0, 'SIGTERM');
  await ended;
});

t.test('50 clients killed in mid-tunnel leave no descriptor behind', async (t) => {
  writePolicy(pinned([far.port]));
  const { server, fd, port } = await heldSocket();
  const one = await started(fd);
  server.close();
  (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
  await eventually(() => one.lines.some((line) => line.event === 'end'), 'the first tunnel over');
  const before = descriptors(one.child.pid);
  // Builtins only: a child of the shell would hold the socket beyond the kill.
  const client = `exec 3<>/dev/tcp/127.0.0.1/${port}
    printf 'CONNECT k.sink.test:${far.port} HTTP/1.1\\r\\n\\r\\n' >&3
    read -r -u 3 line; echo "$line"
    while printf '%01000d' 0 >&3; do read -r -t 0.01 -N 1000 -u 3 line; done`;
  for (let batch = 0; batch < 5; batch++) {
    const clients = Array.from({ length: 10 }, () =>
      spawn('bash', ['-c', client], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    await Promise.all(clients.map(({ stdout }) => once(stdout, 'data')));
    t.ok(descriptors(one.child.pid) >= before + 20, 'ten tunnels stand');
    for (const killed of clients) killed.kill('SIGKILL');
    await Promise.all(clients.map((killed) => once(killed, 'exit')));
  }
  await eventually(() => descriptors(one.child.pid) <= before, 'descriptors are back');
  // A line is read from the log's pipe a moment after its tunnel let go of its descriptors.
  const ends = () => one.lines.filter((line) => line.event === 'end').length;
  await eventually(() => ends() >= 51, 'each tunnel said its end');
  t.equal(ends(), 51);
  one.child.kill('SIGTERM');
  t.same(await one.exited, [0, null]);
});

t.test('the log never stops a decision', async (t) => {
  const denied = 'GET http://no.test/ HTTP/1.1\r\nHost: no.test\r\n';
  await t.test('a reader that went away', async (t) => {
    const { server, fd, port } = await heldSocket();
    const one = await started(fd);
    server.close();
    one.child.stdout?.destroy();
    one.child.stderr?.destroy();
    for (let count = 0; count < 5; count++) {
      t.equal(statusOf(await talk(port, `${denied}Connection: close\r\n\r\n`)), 403);
    }
    (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
    one.child.kill('SIGTERM');
    t.same(await one.exited, [0, null]);
  });
  await t.test('a reader that does not read', async (t) => {
    const { server, fd, port } = await heldSocket();
    const one = await started(fd, { drainMs: 100 });
    server.close();
    one.child.stdout?.pause();
    // More than a pipe and its reader hold.
    const many = `${`${denied}\r\n`.repeat(2000)}${denied}Connection: close\r\n\r\n`;
    const answers = (await talk(port, many)).toString().match(/HTTP\/1\.1 403/g) ?? [];
    t.equal(answers.length, 2001);
    one.child.stdout?.resume();
    await eventually(() => one.lines.length === 2001, 'every line, late');
    one.child.kill('SIGTERM');
    t.same(await one.exited, [0, null]);
  });
  await t.test('a full disk', { skip: existsSync('/dev/full') ? false : 'no /dev/full' }, async (t) => {
    const { server, fd, port } = await heldSocket();
    const script = `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$1" "$2" >/dev/full`;
    const notes = join(folder, 'notes');
    const statusPath = join(folder, 'full.sock');
    const child = spawn(
      '/bin/sh',
      ['-c', `${script} 2>${notes}`, process.execPath, program, JSON.stringify({ policyPath, statusPath })],
      {
        stdio: ['ignore', 'ignore', 'ignore', fd],
      },
    );
    const exited = once(child, 'exit');
    await eventually(() => existsSync(notes) && readFileSync(notes, 'utf8').includes('listening on'), 'listening');
    server.close();
    t.equal(statusOf(await talk(port, `${denied}Connection: close\r\n\r\n`)), 403);
    (await tunnelTo(port, `a.sink.test:${far.port}`)).socket.destroy();
    await eventually(() => existsSync(statusPath), 'the status socket');
    let lost = '0';
    while (Number(lost) < 3) {
      const { body } = await ask(statusPath, '/metrics');
      lost = /^watertight_proxy_lines_lost_total\{tenant="acme"\} (\d+)$/m.exec(body)?.[1] ?? 'none';
    }
    t.equal(lost, '3', 'a denial, and the two lines of a tunnel');
    child.kill('SIGTERM');
    t.same(await exited, [0, null]);
    t.match(readFileSync(notes, 'utf8'), /decision lines were lost/);
  });
});
