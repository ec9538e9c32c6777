import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';
import { hostCgroups, initPid } from '../cgroup.js';
import { execOnHost } from '../exec.js';
import type { Lab, LabHost } from '../lab.js';
import type { Machine } from '../machine.js';
import { consoleTail } from './start.js';

const DEADLINE_MS = 90_000;
const PAUSE_MS = 100;

/**
 * Waits until a host has booted to its end and its sshd answers.
 * @param ended settled when the host has ended for good, where the caller started it
 * @throws Failure that says what kept it
 */
export async function untilReady(machine: Machine, lab: Lab, host: LabHost, ended?: Promise<unknown>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  const cgroups = hostCgroups(machine, lab.name, host.name);
  let over = false;
  const note = (): void => {
    over = true;
  };
  ended?.then(note, note);
  const answers = async (): Promise<boolean> => (await initPid(cgroups)) !== null && (await answersSsh(host.address));
  while (!(await answers())) {
    if (over) throw failure(lab, host, 'did not boot', await consoleTail(lab.name, host.name));
    if (Date.now() > deadline)
      throw failure(lab, host, 'does not answer on port 22', await consoleTail(lab.name, host.name));
    await delay(PAUSE_MS);
  }
  await requireHealthy(machine, lab, host);
}

/** sshd answers a little before the boot has ended, and refuses logins until then (pam_nologin(8)). */
async function requireHealthy(machine: Machine, lab: Lab, host: LabHost): Promise<void> {
  const waited = await execOnHost(machine, lab, host.name, ['systemctl', 'is-system-running', '--wait']);
  if (waited.status === 0) return;
  const failed = await execOnHost(machine, lab, host.name, ['systemctl', '--failed', '--plain', '--no-legend']);
  throw failure(lab, host, `came up ${waited.stdout.trim() || 'unwell'}`, failed.stdout.trim());
}

function failure(lab: Lab, host: LabHost, what: string, detail: string): Failure {
  const fix = `watertight lab down --lab ${lab.name}, then up again`;
  return new Failure(`${host.name} ${what}${detail ? `: ${detail}` : ''}`, EXIT.couldNotTell, fix);
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
