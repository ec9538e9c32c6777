import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { directTcp, sameUnconfined } from './attempts.js';

/** Public fault: a gate that was IPv4 only; its counterpart is direct-tcp6. */
export const directTcp4: AttemptClaim = {
  type: 'attempt',
  id: 'direct.tcp4',
  claim: 'a direct TCP connection over IPv4 is refused, on any port',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'tcp',
  attempts: () => SCRATCH.tcpPorts.map((port) => directTcp('direct.tcp4', 4, SCRATCH.sink4, port)),
  control: sameUnconfined,
  judge: refusedBy('tcp'),
};
