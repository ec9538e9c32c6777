import { UsageFailure } from '../core/failure.js';
import { makeBuildCgroup } from './cgroup.js';
import { untilReady } from './host/ready.js';
import { startHost } from './host/start.js';
import { stopHost } from './host/stop.js';
import { ensureImage, type Image, requireImage, withImages } from './image/image.js';
import { imageName } from './image/recipe.js';
import { writeInventory } from './inventory.js';
import { ensureKeys } from './keys.js';
import type { Lab } from './lab.js';
import { withLock } from './lock.js';
import { inspectMachine, type Machine, requireSpace } from './machine.js';
import { checkHostCount, checkLabName, DEFAULT_LAB, LAB_ROOT, type Suite, subnet } from './names.js';
import { chooseSubnet, ensureBridge } from './network.js';
import { describeLab, imagesInUse, type LabState, loadState, otherStates, saveState } from './state.js';

/** Hosts keep what they install and write below LAB_ROOT. */
const NEEDED_BYTES = 512 * 1024 ** 2;

type Progress = (text: string) => void;

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

async function raise(machine: Machine, name: string, options: LabOptions, onProgress: Progress): Promise<Lab> {
  await requireSpace(LAB_ROOT, NEEDED_BYTES);
  const found = await loadState(name);
  const state = found ? await grow(name, found, options, onProgress) : await begin(machine, name, options, onProgress);
  const image = await requireImage(state.image, name);
  const lab = await describeLab(machine, name, state);
  await ensureBridge(name, subnet(state.subnetIndex));
  await ensureKeys(lab);
  await writeInventory(lab);
  await bootAll(machine, lab, image, onProgress);
  return describeLab(machine, name, state);
}

/** Boots every host that is not running, and waits for them all. */
async function bootAll(machine: Machine, lab: Lab, image: Image, onProgress: Progress): Promise<void> {
  const booting: Promise<void>[] = [];
  for (const host of lab.hosts.filter(({ initPid }) => initPid === null)) {
    onProgress(`booting ${host.name} (${host.address})`);
    await stopHost(machine, lab.name, host.name);
    const { ended } = await startHost(machine, lab, host, image);
    booting.push(untilReady(machine, lab, host, ended));
  }
  await Promise.all(booting);
}

/** What a lab that is there already shall be from now on. */
async function grow(name: string, found: LabState, options: LabOptions, onProgress: Progress): Promise<LabState> {
  if (options.suite && options.suite !== found.suite) {
    const fix = `watertight lab down --lab ${name}, or another --lab`;
    throw new UsageFailure(`the lab ${name} is a ${found.suite} one`, fix);
  }
  if (found.image !== imageName(found.suite)) {
    onProgress(`note: ${name} was made from an older image; take it down and up again to renew it`);
  }
  const state = { ...found, hosts: Math.max(options.hosts ?? 1, found.hosts) };
  await saveState(name, state);
  return state;
}

/**
 * Decides what a new lab is, and writes it down before anything of it is made. Images are held meanwhile, so that nobody
 * removes the one it takes, and two labs that begin at once do not choose the same network.
 */
async function begin(machine: Machine, name: string, options: LabOptions, onProgress: Progress): Promise<LabState> {
  const suite = options.suite ?? 'bookworm';
  const cgroup = await makeBuildCgroup(machine, name);
  return withImages(
    async () => {
      const image = await ensureImage({ suite, inUse: await imagesInUse(name), cgroup, onProgress });
      const taken = new Set((await otherStates(name)).map((state) => state.subnetIndex));
      const { index } = await chooseSubnet(name, taken);
      const state: LabState = { suite, subnetIndex: index, image: image.name, hosts: options.hosts ?? 1 };
      await saveState(name, state);
      return state;
    },
    () => onProgress('waiting for another lab that builds an image'),
  );
}
