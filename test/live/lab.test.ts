import { chmod, copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import t from 'tap';
import { makeBuildCgroup } from '../../lab/cgroup.js';
import { removeCgroups } from '../../lab/cgroup-removal.js';
import { labDown } from '../../lab/down.js';
import { runBuild } from '../../lab/image/build.js';
import { findLeftovers } from '../../lab/leftovers.js';
import { labList } from '../../lab/list.js';
import { inspectMachine } from '../../lab/machine.js';
import { IMAGES, LAB_ROOT } from '../../lab/names.js';
import { labRestart } from '../../lab/restart.js';
import { loadState } from '../../lab/state.js';
import { labUp } from '../../lab/up.js';
import { labName, onHost, ownLab } from '../fixtures/lab.js';

// A copy that any user can read (a checkout may stand in a private home), and that a build meanwhile does not take away.
const folder = await mkdtemp(join(tmpdir(), 'watertight-lab-test-'));
t.teardown(() => rm(folder, { recursive: true }));
await chmod(folder, 0o755);
const PROGRAM = join(folder, 'watertight.mjs');
await copyFile(fileURLToPath(new URL('../../dist/watertight.mjs', import.meta.url)), PROGRAM);

/** Runs the built program as a person would. */
function watertight(...args: readonly string[]) {
  return execa(process.execPath, [PROGRAM, ...args], { reject: false, all: true });
}

t.test('a lab host is a real host, as it comes', async (t) => {
  const lab = await ownLab();
  const cases: readonly { run: string; says: RegExp; why: string }[] = [
    { run: 'ps -p 1 -o comm= 2>/dev/null || cat /proc/1/comm', says: /^systemd$/m, why: 'systemd is PID 1' },
    { run: 'systemctl is-system-running', says: /^running$/m, why: 'its boot is complete and nothing failed' },
    { run: 'hostname; cat /etc/hostname', says: /^lab-01\nlab-01$/m, why: 'it has a name of its own' },
    { run: 'stat -f -c %T /sys/fs/cgroup', says: /^cgroup2fs$/m, why: 'pure cgroup v2' },
    { run: 'tail -1 /proc/1/cgroup', says: /^0::\/init\.scope$/m, why: 'its cgroup namespace is rooted at itself' },
    { run: 'command -v nft node nodejs; echo "<$?>"', says: /^<127>$|^<1>$/, why: 'no nftables and no Node' },
    { run: 'id -u ops; id -u opencode', says: /^1000\n1001$/m, why: 'its users' },
    {
      run: 'cat /sys/class/net/lo/operstate; ip -6 -o addr show',
      says: /lo .*::1\/128[\s\S]*eth0 .*fd00:98/,
      why: 'IPv6 on both',
    },
    { run: 'ip route; ip -6 route', says: /default via 10\.98\.[\s\S]*default via fd00:98/, why: 'a default route' },
    { run: 'ip netns add x && ip netns exec x ip -br link && ip netns del x', says: /^lo/m, why: 'ip netns works' },
    { run: 'unshare --net --pid --mount --fork true && echo yes', says: /^yes$/m, why: 'unshare works' },
    { run: 'journalctl -b -u ssh --no-pager', says: /Server listening/, why: 'it keeps a journal' },
    { run: 'echo x >/run/x && echo x >/tmp/x && test -c /dev/ptmx && echo yes', says: /^yes$/m, why: 'private places' },
    { run: 'sysctl -w net.ipv4.ip_forward=1', says: /= 1$/m, why: 'its network settings are its own' },
    { run: 'sysctl -w vm.swappiness=1 2>&1', says: /denied|read-only/i, why: 'the machine’s settings are not' },
    {
      run: 'systemd-run --wait -q -p IPAddressDeny=any true && echo yes',
      says: /^yes$/m,
      why: 'transient units with BPF',
    },
  ];
  for (const { run, says, why } of cases) {
    const { stdout } = await onHost(lab, 'lab-01', ['sh', '-c', run]);
    t.match(stdout.trim(), says, why);
  }
  t.not(await readFile('/proc/sys/vm/swappiness', 'utf8'), '1\n', 'the machine is untouched');
  const machineId = await onHost(lab, 'lab-01', ['cat', '/etc/machine-id']);
  t.match(machineId.stdout, /^[0-9a-f]{32}\n$/, 'a machine id');

  const ssh = await watertight('lab', 'ssh', '--lab', lab.name, 'lab-01', '--', 'whoami; sudo -n id -u');
  t.equal(ssh.stdout, 'ops\n0', 'ops logs in with the lab’s key and known_hosts, and may sudo');
  t.equal(ssh.exitCode, 0);
  const direct = await execa(
    'ssh',
    [
      '-F',
      'none',
      '-i',
      lab.identity,
      '-o',
      `UserKnownHostsFile=${lab.knownHosts}`,
      '-o',
      'StrictHostKeyChecking=yes',
      `ops@${lab.hosts[0]?.address6}`,
      'true',
    ],
    { reject: false },
  );
  t.equal(direct.exitCode, 0, 'over IPv6 too');

  const apt = 'export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && apt-get -qq install -y nftables nodejs';
  t.equal((await onHost(lab, 'lab-01', ['sh', '-c', apt])).status, 0, 'it can install them without an internet');
  const rules = 'nft add table inet t && nft list tables && node -p process.version';
  t.match((await onHost(lab, 'lab-01', ['sh', '-c', rules])).stdout, /table inet t\nv\d+\./, 'and they work');

  t.equal((await onHost(lab, 'lab-01', ['sh', '-c', 'exit 7'])).status, 7, 'the status of a command');
  const killed = await watertight('lab', 'exec', '--lab', lab.name, 'lab-01', '--', 'sh', '-c', 'kill -TERM $$');
  t.equal(killed.exitCode, 143, 'a signal is told as a shell tells it');
  t.equal((await onHost(lab, 'lab-01', ['cat'], { input: 'a b\n' })).stdout, 'a b\n', 'its input and output');

  const bootId = async () => (await onHost(lab, 'lab-01', ['cat', '/proc/sys/kernel/random/boot_id'])).stdout;
  for (const hard of [false, true]) {
    const how = hard ? 'after a power cut' : 'after a reboot';
    await onHost(lab, 'lab-01', ['sh', '-c', 'echo kept >/etc/kept; echo lost >/run/lost']);
    const before = await bootId();
    await labRestart({ lab: lab.name, host: 'lab-01', hard });
    t.not(await bootId(), before, `${how}: another boot id`);
    t.equal(
      (await onHost(lab, 'lab-01', ['cat', '/etc/kept', '/run/lost'])).stdout,
      'kept\n',
      `${how}: files stay, /run does not`,
    );
    t.equal((await onHost(lab, 'lab-01', ['nft', 'list', 'tables'])).stdout, '', `${how}: the kernel’s rules are gone`);
    t.equal(
      (await onHost(lab, 'lab-01', ['cat', '/etc/machine-id'])).stdout,
      machineId.stdout,
      `${how}: the same machine`,
    );
  }
  const pid = (await labList()).find(({ name }) => name === lab.name)?.hosts[0]?.initPid ?? 0;
  await onHost(lab, 'lab-01', ['systemctl', 'reboot']);
  while ((await labList()).find(({ name }) => name === lab.name)?.hosts[0]?.initPid === pid) await delay(50);
  await labUp({ lab: lab.name });
  t.equal(
    (await onHost(lab, 'lab-01', ['cat', '/etc/kept'])).stdout,
    'kept\n',
    'a host that reboots by itself comes back',
  );
});

t.test('two labs side by side, and the way down', async (t) => {
  const [one, two] = [labName(), labName()];
  t.teardown(() => Promise.all([labDown({ lab: one }), labDown({ lab: two })]));
  const first = await watertight('lab', 'up', '--lab', one, '--hosts', '2');
  t.equal(first.exitCode, 0, first.all);
  t.match(first.stdout, /^lab-01 10\.98\.\d+\.11 fd00:.*\nlab-02 10\.98\.\d+\.12 fd00:[^\n]*$/);
  const lab = await labUp({ lab: two });
  const image = (await loadState(two))?.image ?? '';
  const built = await stat(`${IMAGES}/${image}/built`);
  t.notSame(first.stdout.split(' ')[1], lab.hosts[0]?.address, 'they have networks of their own');

  const said: string[] = [];
  const again = await labUp({ lab: two, onProgress: (text) => said.push(text) });
  t.same(said, [], 'a second up has nothing to do');
  t.same(again, lab, 'and changes nothing');
  const grown = await labUp({ lab: two, hosts: 2, onProgress: (text) => said.push(text) });
  t.equal(grown.hosts[0]?.initPid, lab.hosts[0]?.initPid, 'it grows without touching the host that runs');
  t.equal(said.length, 1, 'one host is booted');
  t.equal((await stat(`${IMAGES}/${image}/built`)).mtimeMs, built.mtimeMs, 'the image came from the cache');
  t.match(
    (await watertight('lab', 'list')).stdout,
    new RegExp(`^${one}\tbookworm\tlab-02\t10\\.98\\.\\d+\\.12\trunning$`, 'm'),
  );
  const ping = 'import socket;socket.create_connection(("lab-02",22),3)';
  t.not((await onHost(lab, 'lab-01', ['python3', '-c', ping])).status, 0, 'a name of another host is not known there');
  const reach = `import socket;print(socket.create_connection(("${grown.hosts[1]?.address}",22),3).recv(4))`;
  t.equal(
    (await onHost(lab, 'lab-01', ['python3', '-c', reach])).stdout,
    "b'SSH-'\n",
    'hosts of a lab reach each other',
  );

  const orphan = execa(process.execPath, [PROGRAM, 'lab', 'exec', '--lab', one, 'lab-02', '--', 'sleep', '1000'], {
    reject: false,
  });
  while (
    !(await onHost({ ...grown, name: one }, 'lab-02', ['cat', '/sys/fs/cgroup/lab-exec/cgroup.procs'])).stdout.includes(
      '\n',
    )
  )
    await delay(20);
  t.notSame(await findLeftovers(one), [], 'something is there to leave behind');
  const down = await watertight('lab', 'down', '--lab', one);
  t.equal(down.exitCode, 0, down.all);
  t.not((await orphan).exitCode, 0, 'a command that ran in a host ends with it');
  t.same(await findLeftovers(one), [], 'nothing is left of the first');
  t.equal((await onHost(lab, 'lab-01', ['systemctl', 'is-system-running'])).stdout, 'running\n', 'the second goes on');
  const absent = await watertight('lab', 'down', '--lab', one);
  t.equal(absent.exitCode, 0, 'down again is no error');
  t.match(
    absent.all,
    new RegExp(`^there is no lab ${one}; labs: (?:.*, )?${two}\\b[^\n]*$`),
    'and says so, and nothing else',
  );
  for (const args of [
    ['exec', '--lab', one, 'lab-01', 'true'],
    ['exec', '--lab', two, 'lab-99', 'true'],
  ]) {
    t.equal((await watertight('lab', ...args)).exitCode, 64, `${args.join(' ')}: what is not there cannot be used`);
  }
  t.ok(await stat(`${IMAGES}/${image}/root`), 'the image stays');
});

t.test('killed while it is being made', async (t) => {
  // Moments spread over a boot of two hosts from a cached image, from before the first thing is made to after the last.
  for (const moment of [40, 120, 200, 280, 360, 440, 600, 900]) {
    const lab = labName();
    const up = execa(process.execPath, [PROGRAM, 'lab', 'up', '--lab', lab, '--hosts', '2'], { reject: false });
    await delay(moment);
    up.kill('SIGKILL');
    await up;
    const down = await watertight('lab', 'down', '--lab', lab);
    t.equal(down.exitCode, 0, `after ${moment} ms: ${down.all}`);
    t.same(await findLeftovers(lab), [], `nothing is left after ${moment} ms`);
  }
});

t.test('a killed up is completed by the next', async (t) => {
  const lab = labName();
  t.teardown(() => labDown({ lab }));
  for (const moment of [150, 300, 450]) {
    const up = execa(process.execPath, [PROGRAM, 'lab', 'up', '--lab', lab, '--hosts', '2'], { reject: false });
    await delay(moment);
    up.kill('SIGKILL');
    await up;
  }
  const whole = await labUp({ lab, hosts: 2 });
  for (const host of whole.hosts) {
    t.equal((await onHost(whole, host.name, ['systemctl', 'is-system-running'])).stdout, 'running\n', host.name);
  }
});

t.test('an image build ends with its lab', async (t) => {
  const lab = labName();
  const machine = await inspectMachine();
  const directory = t.testdir();
  const cgroup = await makeBuildCgroup(machine, lab);
  let began: () => void = () => {};
  const beginning = new Promise<void>((resolve) => {
    began = resolve;
  });
  const onProgress = (text: string): void => {
    if (/extracting|installing/.test(text)) began();
  };
  const build = runBuild({ suite: 'bookworm', directory, cgroup, onProgress });
  const ended = t.rejects(build, { name: 'Failure', message: /could not be built/ }, 'it says that it came to nothing');
  await Promise.race([beginning, build]);
  await removeCgroups(machine, lab);
  await ended;
  t.same(await findLeftovers(lab), [], 'no process, no cgroup');
  t.notMatch(await readFile('/proc/self/mounts', 'utf8'), directory, 'no mount');
  await rm(directory, { recursive: true });
});

t.test('where it cannot run it says why', async (t) => {
  const bin = t.testdir({
    unshare: '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n',
  });
  await execa('chmod', ['755', `${bin}/unshare`]);
  const lab = labName();
  const cases = [
    {
      run: () =>
        execa(
          'setpriv',
          ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, PROGRAM, 'lab', 'up', '--lab', lab],
          { reject: false, all: true },
        ),
      exit: 2,
      says: /needs root.*\nfix: run it with sudo/,
      why: 'not root',
    },
    {
      run: () =>
        execa(process.execPath, [PROGRAM, 'lab', 'up', '--lab', lab], {
          reject: false,
          all: true,
          env: { PATH: `${bin}:${process.env.PATH}` },
        }),
      exit: 2,
      says: /refuses new namespaces \(unshare: unshare failed: Operation not permitted\)\nfix: /,
      why: 'no namespaces',
    },
    {
      run: () => watertight('lab', 'up', '--lab', 'a-b'),
      exit: 64,
      says: /"a-b" is no name for a lab/,
      why: 'a bad name',
    },
    {
      run: () => watertight('lab', 'up', '--lab', lab, '--hosts', '0'),
      exit: 64,
      says: /1 to 99 hosts/,
      why: 'no hosts',
    },
    {
      run: () => watertight('lab', 'up', '--lab', lab, '--hosts', 'x'),
      exit: 64,
      says: /whole number/,
      why: 'no number',
    },
    { run: () => watertight('lab', 'up', '--suite', 'sid'), exit: 64, says: /bookworm, trixie/, why: 'another suite' },
    {
      run: () => watertight('lab', 'exec', '--lab', lab, 'lab-01', 'true'),
      exit: 64,
      says: /no lab .*\nfix: watertight lab up/,
      why: 'no lab',
    },
  ];
  for (const { run, exit, says, why } of cases) {
    const result = await run();
    t.equal(result.exitCode, exit, why);
    t.match(result.all, says, why);
    t.notMatch(result.all, /^ {4}at /m, `${why}: no stack trace`);
  }
  t.equal(await stat(`${LAB_ROOT}/${lab}`).catch(() => null), null, 'and nothing was made');
});
