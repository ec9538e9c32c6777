import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { attempt, sameUnconfined } from './attempts.js';

/** Set aside for experiments (RFC 3692), so no rule and no module of the kernel knows it. */
const EXPERIMENTAL = 253;

export const unknownProtocol: AttemptClaim = {
  type: 'attempt',
  id: 'direct.unknown-protocol',
  claim: 'a packet of an unknown IP protocol does not leave, over IPv4 or IPv6',
  layer: 'sandbox',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'other',
  attempts: () => [
    { ...attempt('direct.unknown-protocol', 'raw', 4, SCRATCH.sink4, 0), protocol: EXPERIMENTAL },
    { ...attempt('direct.unknown-protocol', 'raw', 6, SCRATCH.sink6, 0), protocol: EXPERIMENTAL },
  ],
  control: sameUnconfined,
  judge: refusedBy('other'),
};
