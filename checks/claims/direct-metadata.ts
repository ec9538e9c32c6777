import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { directTcp, sameUnconfined } from './attempts.js';

/**
 * Cloud metadata services hand out credentials. The sink stands in for them: packets from the verifier's own address
 * are routed to it, and those of other programs go where they always went.
 */
export const directMetadata: AttemptClaim = {
  type: 'attempt',
  id: 'direct.metadata',
  claim: 'a TCP connection to a metadata address is refused',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'tcp',
  attempts: () => [
    { ...directTcp('direct.metadata', 4, SCRATCH.metadata4, 80), source: SCRATCH.host4 },
    { ...directTcp('direct.metadata', 6, SCRATCH.metadata6, 80), source: SCRATCH.host6 },
  ],
  control: sameUnconfined,
  judge: refusedBy('tcp'),
};
