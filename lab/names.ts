import { UsageFailure } from '../core/failure.js';

/** The lab that commands mean when none is named. */
export const DEFAULT_LAB = 'lab';
/** Where every lab keeps its files, and the images that they share. */
export const LAB_ROOT = '/var/lib/watertight-lab';
export const IMAGES = `${LAB_ROOT}/images`;
/** All cgroups of a lab stand below this one, in every hierarchy that the lab uses. */
export const CGROUP = 'watertight-lab';
export const MAX_HOSTS = 99;

export const SUITES = ['bookworm', 'trixie'] as const;
export type Suite = (typeof SUITES)[number];

/**
 * A network interface's name holds 15 bytes (IFNAMSIZ), and a host's cable is called `wt-<lab>-<nn>`. No hyphen, so that
 * a lab `a` with a host 01 and a lab `a-01` cannot claim the same name; `images` is a folder of its own.
 */
const LAB_NAME = /^(?!images$)[a-z][a-z0-9]{0,7}$/;

/** @throws UsageFailure unless the name fits everywhere it goes */
export function checkLabName(name: string): string {
  if (LAB_NAME.test(name)) return name;
  const rule = 'a lower-case letter, then up to 7 letters or digits (and not "images")';
  throw new UsageFailure(`${JSON.stringify(name)} is no name for a lab: ${rule}`);
}

/** @throws UsageFailure unless it is a whole number of hosts that a lab can hold */
export function checkHostCount(count: number): number {
  if (Number.isInteger(count) && count >= 1 && count <= MAX_HOSTS) return count;
  throw new UsageFailure(`a lab has 1 to ${MAX_HOSTS} hosts, not ${count}`);
}

/** Everything that a lab keeps on disk lies below. */
export function labDirectory(lab: string): string {
  return `${LAB_ROOT}/${lab}`;
}

/** The lab's bridge, which is its network. */
export function bridgeName(lab: string): string {
  return `wt-${lab}`;
}

/** The machine's end of a host's cable. */
export function cableName(lab: string, number: number): string {
  return `${bridgeName(lab)}-${twoDigits(number)}`;
}

/** Whether a network interface of this name belongs to the lab. */
export function isLabInterface(lab: string, name: string): boolean {
  const bridge = bridgeName(lab);
  return name === bridge || (name.startsWith(`${bridge}-`) && /^\d\d$/.test(name.slice(bridge.length + 1)));
}

/** Name of host number `number`, from 1: `lab-01`. */
export function hostName(number: number): string {
  return `lab-${twoDigits(number)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Addresses of a lab whose network has this index: 10.98.<index>.0/24 and fd00:98:<index>::/64 (index 0: fd00:98::/64). */
export interface Subnet {
  readonly index: number;
  readonly gateway: string;
  readonly gateway6: string;
}

/** The network of this index, 0 to 254. */
export function subnet(index: number): Subnet {
  return { index, gateway: `10.98.${index}.1`, gateway6: `${prefix6(index)}::1` };
}

/** The addresses of host number `number` (from 1) there: the first host is .11 and ::11. */
export function hostAddresses(index: number, number: number): { readonly address: string; readonly address6: string } {
  return { address: `10.98.${index}.${10 + number}`, address6: `${prefix6(index)}::${10 + number}` };
}

function prefix6(index: number): string {
  return index === 0 ? 'fd00:98' : `fd00:98:${index}`;
}

/**
 * The networks a lab may take, in order of preference: the default lab begins at 0, any other at a place that its name
 * gives, so that a lab keeps its addresses from one day to the next.
 */
/** The network of this index, 0 to 254. */
export function subnetPreference(lab: string): readonly number[] {
  const start =
    lab === DEFAULT_LAB ? 0 : 1 + ([...lab].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 250);
  return Array.from({ length: 255 }, (_, step) => (start + step) % 255);
}
