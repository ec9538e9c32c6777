import type { AttemptClaim } from '../claim.js';
import { shutDoors } from '../judges/doors.js';
import { attempt, sameUnconfined } from './attempts.js';

/**
 * What a sandbox is there to shut; host/confined-child/child.py says how each is tried. Settings are not looked at: a
 * drop-in for all services of a host changes this unit too, and the settings that the launcher passed still read well.
 */
const DOORS = [
  'netlink-socket',
  'packet-socket',
  'vsock-socket',
  'raw-socket',
  'user-namespace',
  'network-namespace',
  'io-uring',
  'system-bus',
  'systemd-private',
  'journal-socket',
  'other-processes',
  'homes',
  'host-run',
  'write-etc',
  'write-var',
  'cgroup-files',
  'sysctl',
  'kernel-log',
] as const;

export const sandboxDoors: AttemptClaim = {
  type: 'attempt',
  id: 'sandbox.doors',
  claim: 'sockets of other families, namespaces, io_uring, local daemons, other processes and shared folders are shut',
  layer: 'sandbox',
  // Its settings travel with each run, so what opens a door is a drop-in of the host's that changes units of the name.
  hint: 'on HOST: ls -d /etc/systemd/system/*service.d /run/systemd/system/*service.d',
  expectation: 'refused',
  counter: null,
  attempts: ({ markers }) => [
    ...DOORS.map((door) => doorAttempt(door)),
    ...markers.map((path) => ({ ...doorAttempt('shared-folder'), path })),
  ],
  control: sameUnconfined,
  judge: shutDoors,
};

function doorAttempt(door: string) {
  const made = attempt('sandbox.doors', 'door', 4, '', 0);
  return { ...made, id: `sandbox.doors ${door} ${made.nonce}`, door, deadline: 2000 };
}
