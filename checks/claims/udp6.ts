import type { AttemptClaim } from '../claim.js';
import { refusedBy } from '../judges/refused.js';
import { SCRATCH } from '../scene.js';
import { datagrams, sameUnconfined } from './attempts.js';

export const udp6: AttemptClaim = {
  type: 'attempt',
  id: 'direct.udp6',
  claim: 'a UDP datagram over IPv6 is dropped (DNS 53, QUIC 443, STUN 3478)',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'udp',
  attempts: () => datagrams('direct.udp6', 6, SCRATCH.sink6),
  control: sameUnconfined,
  judge: refusedBy('udp'),
};
