import { UsageFailure } from '../core/failure.js';
import { makeBuildCgroup } from './cgroup.js';
import { untilReady } from './host/ready.js';
import { startHost } from './host/start.js';
import { stopHost } from './host/stop.js';
import { ensureImage, type Image, imageAt } from './image/image.js';
import { imageName } from './image/recipe.js';
import { writeInventory } from './inventory.js';
import { ensureKeys } from './keys.js';
import type { Lab } from './lab.js';
import { withLock } from './lock.js';
import { inspectMachine, type Machine } from './machine.js';
import { checkHostCount, checkLabName, DEFAULT_LAB, type Suite, subnet } from './names.js';
import { chooseSubnet, ensureBridge } from './network.js';
import { describeLab, type LabState, loadState, otherStates, saveState } from './state.js';

export interface LabOptions {
  /** Default `lab`. */
  readonly lab?: string;
  /** Hosts that the lab shall have; a lab that has more keeps them. Default: as many as it has, or 1. */
  readonly hosts?: number;
  /** Default: the lab's, or bookworm. */
  readonly suite?: Suite;
  /** One line on what is being done now. */
  readonly onProgress?: (text: string) => void;
}

/** Makes a lab, or completes it: what is there and runs is left alone. @throws Failure where that cannot be */
export async function labUp(options: LabOptions = {}): Promise<Lab> {
  const name = checkLabName(options.lab ?? DEFAULT_LAB);
  if (options.hosts !== undefined) checkHostCount(options.hosts);
  const onProgress = options.onProgress ?? (() => {});
  const machine = await inspectMachine();
  return withLock(
    `lab/${name}`,
    () => raise(machine, name, options, onProgress),
    () => onProgress(`waiting: ${name} is busy`),
  );
}

async function raise(
  machine: Machine,
  name: string,
  options: LabOptions,
  onProgress: (text: string) => void,
): Promise<Lab> {
  const found = await loadState(name);
  if (found && options.suite && options.suite !== found.suite) {
    throw new UsageFailure(
      `the lab ${name} is a ${found.suite} one`,
      `watertight lab down --lab ${name}, or another --lab`,
    );
  }
  const image = found ? imageAt(found.image) : await freshImage(machine, name, options.suite ?? 'bookworm', onProgress);
  if (found && found.image !== imageName(found.suite)) {
    onProgress(`note: ${name} was made from an older image; take it down and up again to renew it`);
  }
  const state = await settle(name, found, options, image);
  const lab = await describeLab(machine, name, state);
  await ensureBridge(name, subnet(state.subnetIndex));
  await ensureKeys(lab);
  await writeInventory(lab);
  const asleep = lab.hosts.filter((host) => host.initPid === null);
  for (const host of asleep) {
    onProgress(`booting ${host.name} (${host.address})`);
    await stopHost(machine, name, host.name);
    await startHost(machine, lab, host, image);
  }
  await Promise.all(asleep.map((host) => untilReady(machine, lab, host)));
  return describeLab(machine, name, state);
}

async function freshImage(
  machine: Machine,
  name: string,
  suite: Suite,
  onProgress: (text: string) => void,
): Promise<Image> {
  const inUse = new Set((await otherStates(name)).map((state) => state.image));
  const cgroup = await makeBuildCgroup(machine, name);
  return ensureImage({ suite, inUse, cgroup, onProgress });
}

/** Decides what the lab is, and writes it down before anything of it is made. */
async function settle(name: string, found: LabState | null, options: LabOptions, image: Image): Promise<LabState> {
  const hosts = Math.max(options.hosts ?? 1, found?.hosts ?? 1);
  if (found) {
    const state = { ...found, hosts };
    await saveState(name, state);
    return state;
  }
  // Two labs that begin at once must not choose the same network.
  return withLock('network', async () => {
    const taken = new Set((await otherStates(name)).map((state) => state.subnetIndex));
    const { index } = await chooseSubnet(name, taken);
    const suite = options.suite ?? 'bookworm';
    const state: LabState = { suite, subnetIndex: index, image: image.name, hosts };
    await saveState(name, state);
    return state;
  });
}
