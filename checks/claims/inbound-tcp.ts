import type { AttemptClaim } from '../claim.js';
import { unreachableFromOutside } from '../judges/inbound.js';
import { SCRATCH } from '../scene.js';
import { attempt, sameUnconfined } from './attempts.js';

/** How long the confined listener waits for somebody to get through: the sink dials as soon as it listens. */
const LISTEN_MS = 400;

/** An outside peer completed a handshake with a confined listener and delivered data: output rules do not see it. */
export const inboundTcp: AttemptClaim = {
  type: 'attempt',
  id: 'inbound.tcp',
  claim: 'a peer outside cannot open a TCP connection to a confined listener, over IPv4 or IPv6',
  layer: 'cgroup',
  hint: 'watertight provision HOST',
  expectation: 'refused',
  counter: 'inbound',
  attempts: () => [
    { ...attempt('inbound.tcp', 'listen', 4, SCRATCH.host4, 0), deadline: LISTEN_MS },
    { ...attempt('inbound.tcp', 'listen', 6, SCRATCH.host6, 0), deadline: LISTEN_MS },
  ],
  // It ends with the connection that it is there for.
  control: (attempts) => sameUnconfined(attempts).map((attempt) => ({ ...attempt, enough: 1 })),
  judge: unreachableFromOutside,
};
