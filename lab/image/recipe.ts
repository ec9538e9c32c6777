import { digestOf } from '../../core/digest.js';
import type { Suite } from '../names.js';
import customize from './customize.sh';

/** What a host has from the start: a machine as it comes, reachable over SSH. No nftables and no Node. */
export const INCLUDED = ['systemd', 'systemd-sysv', 'dbus', 'openssh-server', 'sudo', 'iproute2', 'python3'] as const;

/** What it can install from the lab's own package source, each with all that it needs. */
export const INSTALLABLE = ['nftables', 'nodejs', 'python3', 'ca-certificates', 'curl'] as const;

/** Nobody reads manuals on a lab host. */
export const UNPACK_WITHOUT = [
  '/usr/share/man/*',
  '/usr/share/doc/*',
  '/usr/share/locale/*',
  '/usr/share/info/*',
] as const;

export const CUSTOMIZE: string = customize;

/** Name of the folder of a suite's image; another recipe has another name. */
export function imageName(suite: Suite): string {
  const recipe = JSON.stringify([suite, process.arch, INCLUDED, INSTALLABLE, UNPACK_WITHOUT, CUSTOMIZE]);
  return `${suite}-${digestOf(recipe).slice(0, 12)}`;
}
