import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';
import { hostCgroups, initPid, isAlive } from '../cgroup.js';
import { execOnHost } from '../exec.js';
import type { Lab, LabHost } from '../lab.js';
import type { Machine } from '../machine.js';
import { consoleTail } from './start.js';

const DEADLINE_MS = 90_000;
const PAUSE_MS = 100;

/** Waits until a host has booted to its end and its sshd answers. @throws Failure that says what kept it */
export async function untilReady(machine: Machine, lab: Lab, host: LabHost): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  const cgroups = hostCgroups(machine, lab.name, host.name);
  await until(
    deadline,
    async () => {
      if ((await initPid(cgroups)) !== null) return true;
      await delay(PAUSE_MS);
      return false;
    },
    async () => failure(lab, host, 'did not boot', await consoleTail(lab.name, host.name)),
  );
  await until(
    deadline,
    () => answersSsh(host.address),
    async () => {
      const alive = await isAlive(cgroups);
      return failure(
        lab,
        host,
        alive ? 'does not answer on port 22' : 'ended during its boot',
        await consoleTail(lab.name, host.name),
      );
    },
  );
  // sshd answers a little before the boot has ended, and refuses logins until then (pam_nologin(8)).
  const waited = await execOnHost(machine, lab, host.name, ['systemctl', 'is-system-running', '--wait']);
  if (waited.status === 0) return;
  const failed = await execOnHost(machine, lab, host.name, ['systemctl', '--failed', '--plain', '--no-legend']);
  throw failure(lab, host, `came up ${waited.stdout.trim() || 'unwell'}`, failed.stdout.trim());
}

function failure(lab: Lab, host: LabHost, what: string, detail: string): Failure {
  const fix = `watertight lab down --lab ${lab.name}, then up again`;
  return new Failure(`${host.name} ${what}${detail ? `: ${detail}` : ''}`, EXIT.couldNotTell, fix);
}

async function until(deadline: number, ready: () => Promise<boolean>, late: () => Promise<Failure>): Promise<void> {
  while (!(await ready())) {
    if (Date.now() > deadline) throw await late();
    await delay(PAUSE_MS);
  }
}

/** True where something greets like an SSH server (RFC 4253, section 4.2). */
function answersSsh(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22, timeout: 1000 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (data) => end(data.toString('latin1').startsWith('SSH-')));
    socket.once('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
