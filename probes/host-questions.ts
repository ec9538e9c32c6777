import {
  absent,
  atLeast,
  cannotTell,
  type Fix,
  lookFix,
  matchOf,
  type Outputs,
  present,
  type Question,
  unclear,
} from './question.js';

const BOTH = ['provision', 'verify'] as const;
/** `socket cgroupv2` came with Linux 5.13. */
const KERNEL = '5.13';
const SUITES: Readonly<Record<string, string>> = { bookworm: 'Debian 12', trixie: 'Debian 13' };
const CLOCK_TOLERANCE_S = 60;

const os: Question = {
  id: 'os',
  question: 'Is it a Debian that watertight knows?',
  neededFor: BOTH,
  fix: () => 'use a host with Debian 12 (bookworm) or 13 (trixie)',
  look: 'cat /etc/os-release',
  judge(outputs) {
    const release = outputs.get('release');
    const id = matchOf(release, /^ID="?([a-z0-9._-]+)"?$/m)?.[1];
    if (id === undefined) return unclear('/etc/os-release', release);
    const suite = matchOf(release, /^VERSION_CODENAME="?([a-z]+)"?$/m)?.[1] ?? '';
    const name = id === 'debian' ? SUITES[suite] : undefined;
    if (name !== undefined) return present(`${name} (${suite})`, 'the system is one that watertight knows');
    return absent(`${id} ${suite}`.trim(), 'the system is not one that watertight was tried on');
  },
};

const kernel: Question = {
  id: 'kernel',
  question: 'Does the kernel know rules by cgroup?',
  neededFor: BOTH,
  fix: () => `boot a kernel of ${KERNEL} or later (apt-get install linux-image-amd64, then reboot)`,
  look: 'uname -r',
  judge(outputs) {
    const release = matchOf(outputs.get('release'), /^\d+\.\d+\S*$/)?.[0];
    if (release === undefined) return unclear('uname', outputs.get('release'));
    const version = /^\d+\.\d+/.exec(release)?.[0] ?? '0';
    if (atLeast(version, KERNEL)) return present(release, `the kernel is ${KERNEL} or later`);
    return absent(release, `the kernel is older than ${KERNEL}, which brought rules by cgroup`);
  },
};

const cgroup2: Question = {
  id: 'cgroup2',
  question: 'Is /sys/fs/cgroup the unified hierarchy?',
  neededFor: BOTH,
  fix: () => 'boot with systemd.unified_cgroup_hierarchy=1 on the kernel command line',
  look: 'stat -f -c %T /sys/fs/cgroup',
  judge(outputs) {
    const type = matchOf(outputs.get('type'), /^[\w-]+$/)?.[0];
    if (type === undefined) return unclear('stat', outputs.get('type'));
    if (type === 'cgroup2fs') return present(type, '/sys/fs/cgroup is the unified hierarchy');
    return absent(type, '/sys/fs/cgroup is not cgroup v2, so that a rule by cgroup would match nothing');
  },
};

const sudo: Question = {
  id: 'sudo',
  question: 'Is root reached without a password?',
  neededFor: BOTH,
  fix: ({ host }) => `let the user that logs in to ${host} run sudo without a password (NOPASSWD), or log in as root`,
  look: 'id -u',
  judge(outputs) {
    const uid = matchOf(outputs.get('uid'), /^\d+$/)?.[0];
    if (uid === undefined) return unclear('id', outputs.get('uid'));
    return uid === '0'
      ? present('root', 'root is reached without a password')
      : absent(`uid ${uid}`, 'this is not root');
  },
};

const clock: Question = {
  id: 'clock',
  question: "Does the clock agree with the controller's?",
  neededFor: BOTH,
  fix: () => 'timedatectl set-ntp true (on the host, and on the controller if that is the one that is off)',
  look: 'date +%s',
  judge(outputs, { sentMs, backMs }) {
    const epoch = matchOf(outputs.get('epoch'), /^\d{1,12}$/)?.[0];
    if (epoch === undefined) return unclear('date', outputs.get('epoch'));
    // The host's clock was read somewhere between the two readings of ours.
    const ahead = Number(epoch) - backMs / 1000;
    const behind = sentMs / 1000 - Number(epoch) - 1;
    const off = Math.max(0, ahead, behind);
    const found = `${Math.round(off)} s ${ahead > behind ? 'ahead' : 'behind'}`;
    if (off <= CLOCK_TOLERANCE_S) return present(off < 1 ? 'in step' : found, "the clock agrees with the controller's");
    return absent(found, `the clock is more than ${CLOCK_TOLERANCE_S} s off the controller's`);
  },
};

/** Holders of apt's locks, one a line: process id and name. */
function judgeAptLock(outputs: Outputs): ReturnType<Question['judge']> {
  const holders = outputs.get('holders');
  const lines = matchOf(holders, /^(?:\d+ .*(?:\n|$))*$/);
  if (lines === null) return unclear('/proc/locks', holders);
  if (lines[0] === '') return present('free', "nobody holds apt's lock");
  const named = [...new Set(lines[0].trim().split('\n'))].map((line) =>
    line.replace(/^(\d+) (.*)$/, '$2 (process $1)'),
  );
  return absent(named.join(', '), "somebody holds apt's lock");
}

const aptLock: Question = {
  id: 'apt-lock',
  question: "Is apt's lock free?",
  neededFor: ['provision'],
  fix: () => 'wait until it ends; provision does that by itself',
  look: 'cat /proc/locks',
  judge: judgeAptLock,
};

/** KiB needed on /usr and on /var: Node and nftables with what they depend on, and apt's own downloads. */
const DISK_KIB = 200 * 1024;

const disk: Question = {
  id: 'disk',
  question: 'Is there room on /usr and /var?',
  neededFor: ['provision'],
  fix: () => 'make room on the host (apt-get clean)',
  look: 'df -P -k /usr /var',
  judge(outputs) {
    const space = outputs.get('space');
    const table = matchOf(space, /^Filesystem.*\n([\s\S]+)$/)?.[1] ?? '';
    const free = table.split('\n').map((row) => /\s\d+\s+\d+\s+(\d+)\s+(?:\d+%|-)\s+\//.exec(row)?.[1]);
    const [usr, at] = free;
    if (free.length !== 2 || usr === undefined || at === undefined) return unclear('df', space);
    const least = Math.min(Number(usr), Number(at));
    const found = `${Math.floor(least / 1024)} MiB free`;
    return least >= DISK_KIB
      ? present(found, 'there is room')
      : absent(found, 'less than 200 MiB are free on /usr or /var');
  },
};

/** Debian 12's; nothing older was tried. */
const SYSTEMD = '252';

const untilBooted: Fix = ({ host }) => `wait until ${host} is up: systemctl is-system-running --wait`;

const systemd: Question = {
  id: 'systemd',
  question: 'Is systemd the init that runs, and is it up?',
  neededFor: BOTH,
  fix: () => `boot the host with systemd ${SYSTEMD} or later; see systemctl --failed and systemctl list-jobs`,
  look: 'systemctl is-system-running',
  judge(outputs) {
    const [version, booted, state] = ['version', 'booted', 'state'].map((key) => outputs.get(key));
    if (version?.kind === 'no-tool') return absent('', 'systemd is not installed');
    const number = matchOf(version, /^systemd (\d+)/)?.[1];
    if (number === undefined) return unclear('systemctl', version);
    if (booted?.kind === 'no-file') return absent(number, 'systemd is installed, and another init runs');
    if (matchOf(booted, /^directory$/) === null)
      return { ...unclear('stat', booted), fix: lookFix('stat -c %F /run/systemd/system') };
    if (!atLeast(number, SYSTEMD)) return absent(number, `systemd is older than ${SYSTEMD}`);
    // is-system-running(systemctl(1)) ends with a status above 0 for every state but running.
    const word = state?.kind === 'said' ? state.text : '';
    if (word === 'running') return present(number, 'systemd runs');
    if (word === 'degraded') return present(`${number}, degraded`, 'systemd runs; some unit has failed');
    if (word === 'maintenance' || word === 'stopping')
      return absent(`${number}, ${word}`, `systemd is in state ${word}`);
    if (word === 'initializing' || word === 'starting')
      return cannotTell('the host is still booting', `${number}, ${word}`, untilBooted);
    return unclear('systemctl', state);
  },
};

/** What the machine itself has to be. */
export const HOST_QUESTIONS: readonly Question[] = [os, kernel, cgroup2, systemd, sudo, clock, disk, aptLock];
