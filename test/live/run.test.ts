import { execa } from 'execa';
import t from 'tap';
import { onHost, useLab } from '../fixtures/lab.js';
import { copyOfProgram } from '../fixtures/program.js';

t.setTimeout(300_000);

const PROGRAM = copyOfProgram();
const HOST = 'lab-01';
const lab = await useLab();
const provisioned = await execa(process.execPath, [PROGRAM, 'provision', HOST, '--config', lab.inventory], {
  reject: false,
});
if (provisioned.exitCode !== 0) throw new Error(`provision failed: ${provisioned.stdout}${provisioned.stderr}`);

/** As the runtime's user would, through sudo. */
const asRuntime = (command: readonly string[], input?: string | Buffer) =>
  onHost(
    lab,
    HOST,
    [
      'runuser',
      '-u',
      'opencode',
      '--',
      'sudo',
      '-n',
      '/usr/sbin/watertight',
      'run',
      '--tenant',
      'acme',
      '--',
      ...command,
    ],
    input === undefined ? {} : { input },
  );

const shell = (script: string) => onHost(lab, HOST, ['/bin/bash', '-s'], { input: script });

t.test('bytes and endings pass through', async (t) => {
  const hello = await asRuntime(['cat'], 'hello\n');
  t.equal(hello.stdout.toString(), 'hello\n');
  const copied = await shell(
    `head -c 10000000 /dev/urandom >/tmp/in; watertight run --tenant acme -- cat </tmp/in >/tmp/out; cmp /tmp/in /tmp/out; cat /tmp/in | watertight run --tenant acme -- cat | cmp /tmp/in -; rm /tmp/in /tmp/out`,
  );
  t.equal(`${copied.stdout}${copied.stderr}`, '', '10 MB are identical, from a file and from a pipe');
  for (const status of [0, 1, 7, 203, 255]) {
    t.equal((await asRuntime(['sh', '-c', `exit ${status}`])).status, status, `status ${status}`);
  }
  const odd = ['a b', '$HOME', '${HOME}', '%n', '\\x2d', '"', "'", '', '*', '-x'];
  const said = await asRuntime(['/usr/bin/python3', '-c', 'import sys, json; print(json.dumps(sys.argv[1:]))', ...odd]);
  t.strictSame(JSON.parse(said.stdout.toString()), odd, 'arguments, byte for byte');
});

t.test('signals', async (t) => {
  for (const [signal, status] of [
    ['TERM', 143],
    ['KILL', 137],
    ['INT', 130],
    ['HUP', 129],
  ] as const) {
    const inside = await shell(`watertight run --tenant acme -- sh -c 'kill -${signal} $$' 2>/dev/null; echo $?`);
    t.equal(inside.stdout.toString().trim(), String(status), `died of ${signal}`);
  }
  const passed = await shell(
    [
      `watertight run --tenant acme -- sh -c 'trap "echo got it; exit 9" USR1; echo ready; while :; do sleep 0.1; done' >/tmp/said &`,
      'pid=$!; for i in $(seq 100); do grep -q ready /tmp/said && break; sleep 0.1; done',
      'kill -USR1 $pid; wait $pid; echo $?; cat /tmp/said; rm /tmp/said',
    ].join('\n'),
  );
  t.equal(passed.stdout.toString(), '9\nready\ngot it\n', 'passed on to the program, not to the launcher');
});

t.test('nothing outlives it', async (t) => {
  const left = await shell(
    [
      `watertight run --tenant acme -- sh -c 'setsid sleep 4711 >/dev/null 2>&1 & exit 0'`,
      "pgrep -f '^sleep 4711' || echo gone",
      `watertight run --tenant acme -- sh -c 'trap "" TERM HUP INT; (trap "" TERM; sleep 4712) & wait' & pid=$!`,
      "for i in $(seq 100); do pgrep -f '^sleep 4712' >/dev/null && break; sleep 0.1; done",
      'kill -KILL $pid; wait $pid 2>/dev/null',
      "for i in $(seq 100); do pgrep -f '^sleep 4712' >/dev/null || break; sleep 0.1; done; pgrep -f '^sleep 4712' || echo gone",
      'for i in $(seq 50); do [ -z "$(ls /run/watertight/runs)" ] && break; sleep 0.1; done; ls /run/watertight/runs; systemctl list-units --no-legend \'watertight-run-*\'',
    ].join('\n'),
  );
  t.equal(
    left.stdout.toString(),
    'gone\ngone\n',
    'neither a daemonised grandchild nor the work of a launcher that was killed',
  );
});

t.test('what it sees of the host', async (t) => {
  const look =
    'id -Gn; ls -A /home; ls -A /tmp; find /run -type s; env | grep -i proxy | sort; cat /etc/shadow /etc/watertight/tenants/acme/policy.json';
  const { stdout } = await asRuntime(['sh', '-c', look]);
  const said = stdout.toString();
  t.match(said, /^wt-acme\n/, 'no group of anybody else');
  t.notMatch(said, /\/run\//, 'no socket under /run');
  t.match(said, /^NO_PROXY=$/m, 'nothing goes past the proxy by a list');
  t.match(said, /^PLAYWRIGHT_MCP_PROXY_SERVER=http:\/\/127\./m);
  t.notMatch(said, /^root:[^\n]|watertight\.invalid/m, 'neither passwords nor the policy');
  const secret = await shell('SECRET=x NO_PROXY=127.0.0.1 watertight run --tenant acme -- env');
  t.notMatch(secret.stdout.toString(), /SECRET|NO_PROXY=1/, "nothing of the caller's environment");
  const node = await asRuntime(['node', '-e', 'console.log(1 + 1)']);
  t.equal(node.stdout.toString(), '2\n', 'Node runs under the filter');
});

t.test('refusals', async (t) => {
  const cases = [
    {
      why: 'no such program',
      script: 'watertight run --tenant acme -- no-such-program',
      status: 127,
      said: /not found/,
    },
    {
      why: 'not executable',
      script: 'watertight run --tenant acme -- /etc/hosts',
      status: 126,
      said: /not executable/,
    },
    {
      why: 'no such tenant',
      script: 'watertight run --tenant other -- true',
      status: 125,
      said: /no tenant "other".*tenants here: acme/s,
    },
    {
      why: 'a network socket made outside',
      script:
        'python3 -c \'import socket,subprocess,sys; s=socket.socket(); sys.exit(subprocess.call(["watertight","run","--tenant","acme","--","cat"],stdin=s))\'',
      status: 125,
      said: /network socket made outside/,
    },
    {
      why: 'not root',
      script: 'runuser -u opencode -- watertight run --tenant acme -- true',
      status: 64,
      said: /needs root/,
    },
    {
      why: 'another command through sudo',
      script: 'runuser -u opencode -- sudo -n /usr/sbin/watertight verify --local',
      status: 1,
      said: /password/,
    },
    {
      why: 'sudo joins arguments before it matches: another tenant behind the name of the own',
      script: 'runuser -u opencode -- sudo -n /usr/sbin/watertight run --tenant "acme -- x" --tenant acme -- id',
      status: 64,
      said: /in this order and nothing else/,
    },
    {
      why: 'the same with the command of the verifier',
      script:
        'runuser -u opencode -- sudo -n /usr/sbin/watertight run-unproven --tenant "acme -- x" --tenant acme -- id',
      status: 1,
      said: /password/,
    },
    {
      why: 'the flag of the verifier through sudo',
      script: 'runuser -u opencode -- sudo -n /usr/sbin/watertight run-unproven --tenant acme -- true',
      status: 1,
      said: /password/,
    },
  ];
  for (const { why, script, status, said } of cases) {
    const result = await shell(script);
    t.equal(result.status, status, `${why}: status`);
    t.match(result.stderr.toString(), said, `${why}: says why`);
  }
});

t.test('containment does not hold: refused with the reason', async (t) => {
  const cases = [
    { why: 'flushed', breaks: 'nft flush ruleset', mends: 'systemctl reload watertight-ruleset', said: /not loaded/ },
    {
      why: 'another rule',
      breaks: 'nft insert rule inet watertight acme_output accept',
      mends: 'systemctl reload watertight-ruleset',
      said: /not the one that was proven/,
    },
    {
      why: 'no proof',
      breaks: 'mv /run/watertight/attestation.json /run/watertight/x',
      mends: 'mv /run/watertight/x /run/watertight/attestation.json',
      said: /not been proven/,
    },
    {
      why: 'no proxy',
      breaks: "systemctl stop 'watertight-proxy@acme.socket'",
      mends: "systemctl start 'watertight-proxy@acme.socket'",
      said: /nothing listens/,
    },
  ];
  for (const { why, breaks, mends, said } of cases) {
    await shell(breaks);
    const refused = await asRuntime(['true']);
    t.equal(refused.status, 125, `${why}: refused`);
    t.match(refused.stderr.toString(), said, `${why}: says why`);
    await shell(mends);
    t.equal((await asRuntime(['true'])).status, 0, `${why}: mended, and launched again`);
  }
});
