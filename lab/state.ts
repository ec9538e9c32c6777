import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../core/failure.js';
import { isRecord, parseJson } from '../core/json.js';
import { EXIT } from '../core/outcome.js';
import { hostCgroups, initPid } from './cgroup.js';
import type { Lab } from './lab.js';
import type { Machine } from './machine.js';
import {
  hostAddresses,
  hostName,
  IMAGES,
  LAB_ROOT,
  labDirectory,
  MAX_HOSTS,
  SUITES,
  type Suite,
  subnet,
} from './names.js';

/** What a lab remembers in lab.json; everything else follows from it, or is read from the kernel. */
export interface LabState {
  readonly suite: Suite;
  readonly subnetIndex: number;
  /** Folder of the image below IMAGES. */
  readonly image: string;
  readonly hosts: number;
}

function stateFile(lab: string): string {
  return join(labDirectory(lab), 'lab.json');
}

/** @returns null where there is no such lab (or only a beginning of one) */
export async function loadState(lab: string): Promise<LabState | null> {
  const text = await readFile(stateFile(lab), 'utf8').catch(() => null);
  if (text === null) return null;
  const state = parseState(text);
  if (state === null)
    throw new Failure(`${stateFile(lab)} is damaged`, EXIT.couldNotTell, `watertight lab down --lab ${lab}`);
  return state;
}

/** @returns null unless it is a whole and sound state */
export function parseState(text: string): LabState | null {
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  const { suite, subnetIndex, image, hosts } = value;
  const known = SUITES.find((each) => each === suite);
  if (known === undefined || !isWithin(subnetIndex, 0, 254) || !isWithin(hosts, 1, MAX_HOSTS)) return null;
  if (typeof image !== 'string' || !/^[a-z]+-[0-9a-f]+$/.test(image)) return null;
  return { suite: known, subnetIndex, image, hosts };
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

/** Writes the state aside and renames it: it is never half there. */
export async function saveState(lab: string, state: LabState): Promise<void> {
  await mkdir(labDirectory(lab), { recursive: true, mode: 0o755 });
  await writeFile(`${stateFile(lab)}.new`, `${JSON.stringify(state, null, 2)}\n`);
  await rename(`${stateFile(lab)}.new`, stateFile(lab));
}

/** Names of all labs that have a folder, whole or half made. */
export async function labNames(): Promise<readonly string[]> {
  const entries = await readdir(LAB_ROOT, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && join(LAB_ROOT, entry.name) !== IMAGES)
    .map(({ name }) => name);
}

/** The state of every other lab. A damaged one counts as absent: it has to be taken down by name. */
export async function otherStates(lab: string): Promise<readonly LabState[]> {
  const others = (await labNames()).filter((name) => name !== lab);
  const states = await Promise.all(others.map((name) => loadState(name).catch(() => null)));
  return states.filter((state) => state !== null);
}

/** Images that other labs than this one were booted from. */
export async function imagesInUse(lab: string): Promise<ReadonlySet<string>> {
  return new Set((await otherStates(lab)).map((state) => state.image));
}

/** A lab as others see it. */
export async function describeLab(machine: Machine, name: string, state: LabState): Promise<Lab> {
  const directory = labDirectory(name);
  const numbers = Array.from({ length: state.hosts }, (_, index) => index + 1);
  const { gateway, gateway6 } = subnet(state.subnetIndex);
  const hosts = await Promise.all(
    numbers.map(async (number) => ({
      name: hostName(number),
      number,
      ...hostAddresses(state.subnetIndex, number),
      initPid: await initPid(hostCgroups(machine, name, hostName(number))),
    })),
  );
  return {
    name,
    suite: state.suite,
    directory,
    inventory: join(directory, 'watertight.yaml'),
    identity: join(directory, 'id_ed25519'),
    knownHosts: join(directory, 'known_hosts'),
    gateway,
    gateway6,
    hosts,
  };
}

/** Where a host keeps its files. */
export function hostDirectory(lab: string, host: string): string {
  return join(labDirectory(lab), 'hosts', host);
}
