import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { directTcp, sameUnconfined } from './attempts.js';

/** `table ip` leaves IPv6 free, and so does an IPv4 reject in an inet table (docs/design.md, "Public faults"). */
export const directTcp6: AttemptClaim = {
  type: 'attempt',
  id: 'direct.tcp6',
  claim: 'a direct TCP connection over IPv6 is refused, on any port',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'tcp',
  attempts: () => SCRATCH.tcpPorts.map((port) => directTcp('direct.tcp6', 6, SCRATCH.sink6, port)),
  control: sameUnconfined,
  judge: refusedBy('tcp'),
};
