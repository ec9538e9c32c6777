import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { directTcp, sameUnconfined } from './attempts.js';

/** Services on the host itself are reached over loopback whatever address is named, so output rules have to see it. */
export const directOwnAddress: AttemptClaim = {
  type: 'attempt',
  id: 'direct.own-address',
  claim: "a TCP connection to the host's own addresses is refused",
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'tcp',
  attempts: ({ own }) => own.map(({ family, address, port }) => directTcp('direct.own-address', family, address, port)),
  control: sameUnconfined,
  judge: refusedBy('tcp'),
};
