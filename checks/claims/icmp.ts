import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { attempt, sameUnconfined } from './attempts.js';

/** Unprivileged ICMP sockets carry data wherever net.ipv4.ping_group_range is open (icmp(7)). */
export const icmp: AttemptClaim = {
  type: 'attempt',
  id: 'direct.icmp',
  claim: 'an ICMP echo request does not leave, over IPv4 or IPv6',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'other',
  attempts: () => [
    { ...attempt('direct.icmp', 'icmp', 4, SCRATCH.sink4, 0), answered: true },
    { ...attempt('direct.icmp', 'icmp', 6, SCRATCH.sink6, 0), answered: true },
  ],
  control: sameUnconfined,
  judge: refusedBy('other'),
};
