import { execa } from 'execa';
import t from 'tap';
import { UsageFailure } from '../../core/failure.js';
import { labDown } from '../../lab/down.js';
import { statusOf } from '../../lab/exec.js';
import { INCLUDED, INSTALLABLE, imageName } from '../../lab/image/recipe.js';
import { sourcesFor } from '../../lab/image/sources.js';
import { renderInventory } from '../../lab/inventory.js';
import type { Lab } from '../../lab/lab.js';
import { holds } from '../../lab/leftovers.js';
import { findLab } from '../../lab/list.js';
import { withLock, withLockIfFree } from '../../lab/lock.js';
import { readMachine } from '../../lab/machine.js';
import {
  bridgeName,
  cableName,
  checkHostCount,
  checkLabName,
  hostAddresses,
  isLabInterface,
  MAX_HOSTS,
  subnet,
  subnetPreference,
} from '../../lab/names.js';
import { tool, tryTool } from '../../lab/process.js';
import { parseState } from '../../lab/state.js';

t.test('names of labs', (t) => {
  const cases = [
    { name: 'lab', good: true, why: 'the default' },
    { name: 'a1234567', good: true, why: 'as long as an interface name allows' },
    { name: 'a12345678', good: false, why: 'one letter too long: the kernel would cut or refuse the cable' },
    { name: 'a-01', good: false, why: 'a hyphen would make its bridge the cable of lab a' },
    { name: '../etc', good: false, why: 'it becomes a path that is removed' },
    { name: 'images', good: false, why: 'the cache stands there' },
    { name: '', good: false, why: 'nothing' },
    { name: '1a', good: false, why: 'begins with a digit' },
  ];
  for (const { name, good, why } of cases) {
    if (good) t.equal(checkLabName(name), name, why);
    else t.throws(() => checkLabName(name), UsageFailure, why);
  }
  for (const count of [0, -1, 1.5, Number.NaN, MAX_HOSTS + 1])
    t.throws(() => checkHostCount(count), UsageFailure, `${count}`);
  t.ok(cableName('a1234567', MAX_HOSTS).length <= 15, 'the longest interface name fits IFNAMSIZ');
  t.end();
});

t.test('an interface belongs to one lab', (t) => {
  const cases = [
    { lab: 'a', name: bridgeName('a'), mine: true, why: 'its bridge' },
    { lab: 'a', name: cableName('a', 1), mine: true, why: 'its cable' },
    { lab: 'a', name: bridgeName('ab'), mine: false, why: 'a bridge of a lab whose name begins alike' },
    { lab: 'a', name: cableName('ab', 1), mine: false, why: 'a cable of such a lab' },
    { lab: 'a', name: 'eth0', mine: false, why: 'the machine’s own' },
    { lab: 'a', name: 'wt-a-x', mine: false, why: 'somebody else’s' },
  ];
  for (const { lab, name, mine, why } of cases) t.equal(isLabInterface(lab, name), mine, why);
  t.end();
});

t.test('addresses', (t) => {
  t.same(hostAddresses(0, 1), { address: '10.98.0.11', address6: 'fd00:98::11' }, 'the first host of the default lab');
  t.same(hostAddresses(7, 99), { address: '10.98.7.109', address6: 'fd00:98:7::109' });
  t.same(subnet(7), { index: 7, gateway: '10.98.7.1', gateway6: 'fd00:98:7::1' });
  t.equal(subnetPreference('lab')[0], 0, 'the default lab begins at 0');
  t.not(subnetPreference('other')[0], 0, 'and no other does');
  t.equal(new Set(subnetPreference('other')).size, 255, 'every network is tried once');
  t.end();
});

t.test('paths are told apart', (t) => {
  t.ok(holds('0::/watertight-lab/a/lab-01/payload', '/watertight-lab/a'));
  t.ok(holds('0::/watertight-lab/a\n', '/watertight-lab/a'));
  t.notOk(holds('0::/watertight-lab/ab/lab-01', '/watertight-lab/a'), 'another lab');
  t.notOk(holds('0::/watertightXlab/a', '/watertight.lab/a'), 'a dot is a dot');
  t.end();
});

t.test('the machine’s hierarchies', (t) => {
  const hybrid = 'cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n';
  t.same(readMachine(hybrid), {
    cgroup2: '/sys/fs/cgroup/unified',
    capHierarchies: { memory: '/sys/fs/cgroup/memory' },
  });
  t.same(readMachine('none /sys/fs/cgroup cgroup2 rw 0 0\n'), { cgroup2: '/sys/fs/cgroup', capHierarchies: {} });
  t.throws(() => readMachine('proc /proc proc rw 0 0\n'), { message: /no cgroup2/, exit: 2, fix: /mount -t cgroup2/ });
  t.end();
});

t.test('the mirror is the one that apt uses', (t) => {
  const targets = [
    'http://mirror.test/debian bookworm main',
    'http://mirror.test/debian bookworm main',
    'http://mirror.test/debian bookworm-updates main',
    'http://mirror.test/debian bookworm non-free',
    'http://extra.test/debian bookworm contrib',
    'http://mirror.test/debian-security bookworm-security main',
    'http://vendor.test/apt nodistro main',
    'http://vendor.test/bookworm bookworm-pgdg main',
    '',
  ].join('\n');
  t.same(sourcesFor('bookworm', targets), [
    'deb http://mirror.test/debian bookworm main',
    'deb http://mirror.test/debian bookworm-updates main',
    'deb http://mirror.test/debian-security bookworm-security main',
  ]);
  t.match(sourcesFor('trixie', targets)[2], /debian-security trixie-security main$/, 'another suite, the same mirror');
  t.same(sourcesFor('trixie', 'http://mirror.test/debian stable main'), ['deb http://mirror.test/debian trixie main']);
  t.same(sourcesFor('trixie', 'http://vendor.test/apt nodistro main\n'), [], 'no Debian mirror at all');
  t.end();
});

t.test('the recipe', (t) => {
  const included: readonly string[] = INCLUDED;
  for (const name of ['nftables', 'nodejs']) {
    t.notOk(included.includes(name), `${name} is for provision to install`);
    t.ok((INSTALLABLE as readonly string[]).includes(name), `${name} can be installed`);
  }
  t.match(imageName('trixie'), /^trixie-[0-9a-f]{12}$/);
  t.not(imageName('trixie').slice(7), imageName('bookworm').slice(9), 'a suite is part of the digest');
  t.end();
});

t.test('a state file is taken as it should be, or not at all', (t) => {
  const good = { suite: 'bookworm', subnetIndex: 3, image: imageName('bookworm'), hosts: 2 };
  t.same(parseState(JSON.stringify(good)), good);
  const cases = [
    { text: '{', why: 'cut off' },
    { text: 'null', why: 'no object' },
    { text: JSON.stringify({ ...good, suite: 'sid' }), why: 'an unknown suite' },
    { text: JSON.stringify({ ...good, subnetIndex: 255 }), why: 'a network out of range' },
    { text: JSON.stringify({ ...good, hosts: 0 }), why: 'no hosts' },
    { text: JSON.stringify({ ...good, image: '../../etc' }), why: 'a path for an image' },
  ];
  for (const { text, why } of cases) t.equal(parseState(text), null, why);
  t.end();
});

t.test('the inventory', (t) => {
  const lab: Lab = {
    name: 'lab',
    suite: 'bookworm',
    directory: '/d',
    inventory: '/d/watertight.yaml',
    identity: '/d/id',
    knownHosts: '/d/known',
    gateway: '10.98.0.1',
    gateway6: 'fd00:98::1',
    hosts: [{ name: 'lab-01', number: 1, address: '10.98.0.11', address6: 'fd00:98::11', initPid: null }],
  };
  const text = renderInventory(lab);
  t.match(text, /^# Written by .*\nversion: 1\n/);
  t.match(text, /identity: \/d\/id\n {2}known_hosts: \/d\/known\n/);
  t.match(text, /lab-01:\n {4}address: 10\.98\.0\.11\n/);
  t.end();
});

t.test('a lock is held by one at a time', async (t) => {
  const name = `test-${process.pid}`;
  const order: string[] = [];
  let release: () => void = () => {};
  const first = withLock(name, async () => {
    order.push('first begins');
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    order.push('first ends');
  });
  await new Promise((resolve) => setImmediate(resolve));
  while (order.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(await withLockIfFree(name, async () => 'mine'), null, 'not free');
  const second = withLock(
    name,
    async () => {
      order.push('second');
      t.equal(await withLockIfFree(name, async () => 'mine'), null, 'held by who waited for it');
    },
    () => {
      order.push('second waits');
      release();
    },
  );
  await Promise.all([first, second]);
  t.same(order, ['first begins', 'second waits', 'first ends', 'second']);
  t.equal(await withLockIfFree(name, async () => 'mine'), 'mine', 'free again');
  await t.rejects(
    withLock(name, async () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  t.equal(await withLockIfFree(name, async () => 'mine'), 'mine', 'free after a failure too');
});

t.test('how a command in a host ended', async (t) => {
  const run = (script: string, options = {}) => execa('sh', ['-c', script], { reject: false, ...options });
  t.equal(statusOf(await run('exit 7')), 7);
  t.equal(statusOf(await run('kill -TERM $$')), 143, '128 and the number of the signal');
  t.equal(statusOf(await run('kill -INT $$')), 130);
  t.equal(statusOf(await run('sleep 60', { timeout: 50, killSignal: 'SIGKILL' })), 137, 'ended at its deadline');
});

t.test('a lab that is not there', async (t) => {
  const name = 'nolab000';
  const said: string[] = [];
  await t.rejects(findLab(name), { exit: 64, message: /^there is no lab nolab000; / }, 'cannot be used');
  if (process.getuid?.() !== 0) return t.pass('only root takes labs down');
  t.equal(await labDown({ lab: name, onProgress: (text) => said.push(text) }), false, 'is no error to take down');
  t.match(said.join('\n'), /^there is no lab nolab000; (?:labs: |there is none at all)[^\n]*$/);
});

t.test('tools', async (t) => {
  t.equal((await tryTool(['false'])).status, 1);
  t.equal((await tryTool(['no-such-tool'])).status, 127, 'not there');
  t.equal(await tool(['cat'], { input: 'a $b' }), 'a $b');
  await t.rejects(tool(['sh', '-c', 'echo why >&2; exit 3']), { name: 'Failure', message: /why$/, exit: 2 });
  await t.rejects(tool(['no-such-tool']), {
    message: 'no-such-tool is not installed',
    fix: 'apt-get install no-such-tool',
  });
  t.equal((await tryTool(['sleep', '60'], { deadlineMs: 50 })).status, -1, 'a deadline is no exit status');
});
