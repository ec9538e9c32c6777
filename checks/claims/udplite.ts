import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { attempt, sameUnconfined } from './attempts.js';

/** UDP-Lite (RFC 3828) needs no privilege, and a rule that names UDP does not match it. */
export const udplite: AttemptClaim = {
  type: 'attempt',
  id: 'direct.udplite',
  claim: 'a UDP-Lite datagram does not leave, over IPv4 or IPv6',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'other',
  attempts: () => [
    attempt('direct.udplite', 'udplite', 4, SCRATCH.sink4, 443),
    attempt('direct.udplite', 'udplite', 6, SCRATCH.sink6, 443),
  ],
  control: sameUnconfined,
  judge: refusedBy('other'),
};
