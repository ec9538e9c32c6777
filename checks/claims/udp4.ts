import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { datagrams, sameUnconfined } from './attempts.js';

/** DNS, QUIC and STUN: the three that a browser sends by itself. */
export const udp4: AttemptClaim = {
  type: 'attempt',
  id: 'direct.udp4',
  claim: 'a UDP datagram over IPv4 is dropped (DNS 53, QUIC 443, STUN 3478)',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'udp',
  attempts: () => datagrams('direct.udp4', 4, SCRATCH.sink4),
  control: sameUnconfined,
  judge: refusedBy('udp'),
};
