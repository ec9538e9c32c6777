import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { directTcp, sameUnconfined } from './attempts.js';

/** Debugging ports, databases and other tenants' proxies listen on loopback. */
export const directLoopback: AttemptClaim = {
  type: 'attempt',
  id: 'direct.loopback',
  claim: 'a TCP connection to loopback, other than to its proxy, is refused',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'tcp',
  attempts: ({ loopback }) =>
    loopback.map(({ family, address, port }) => directTcp('direct.loopback', family, address, port)),
  control: sameUnconfined,
  judge: refusedBy('tcp'),
};
