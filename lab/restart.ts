import { setTimeout as delay } from 'node:timers/promises';
import { hostCgroups, initPid } from './cgroup.js';
import { execOnHost, findHost } from './exec.js';
import { untilReady } from './host/ready.js';
import { startHost } from './host/start.js';
import { stopHost } from './host/stop.js';
import { requireImage } from './image/image.js';
import { findLab } from './list.js';
import { withLock } from './lock.js';
import { requireRoot } from './machine.js';
import { DEFAULT_LAB } from './names.js';
import { loadState } from './state.js';

export interface RestartOptions {
  readonly host: string;
  /** Default `lab`. */
  readonly lab?: string;
  /** Cut the power instead of asking the host's systemd to reboot. */
  readonly hard?: boolean;
  readonly onProgress?: (text: string) => void;
}

const GRACE_MS = 30_000;
const PAUSE_MS = 100;

/**
 * Boots a host anew: another boot id, empty /run and /tmp, no ruleset, the same files. Returns when it is up again. A host
 * that does not go down within 30 s, or is not running, is started the hard way.
 */
export async function labRestart(options: RestartOptions): Promise<void> {
  const name = options.lab ?? DEFAULT_LAB;
  requireRoot('restarting a host');
  const { machine, lab } = await findLab(name);
  const host = findHost(lab, options.host);
  const onProgress = options.onProgress ?? (() => {});
  await withLock(`lab/${name}`, async () => {
    onProgress(`restarting ${host.name}`);
    const cgroups = hostCgroups(machine, name, host.name);
    const before = await initPid(cgroups);
    const asked = before !== null && !options.hard;
    if (asked) await execOnHost(machine, lab, host.name, ['systemctl', '--no-block', 'reboot']);
    if (asked && (await rebooted(before, () => initPid(cgroups)))) return untilReady(machine, lab, host);
    const image = await requireImage((await loadState(name))?.image ?? '', name);
    await stopHost(machine, name, host.name);
    const { ended } = await startHost(machine, lab, host, image);
    return untilReady(machine, lab, host, ended);
  });
}

/** Whether another init took the place of `before` within the time of grace. */
async function rebooted(before: number, now: () => Promise<number | null>): Promise<boolean> {
  for (let waited = 0; waited < GRACE_MS; waited += PAUSE_MS) {
    const pid = await now();
    if (pid !== null && pid !== before) return true;
    await delay(PAUSE_MS);
  }
  return false;
}
