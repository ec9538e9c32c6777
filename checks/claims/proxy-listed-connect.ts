import type { AttemptClaim } from '../claim.js';
import { fetchedThroughProxy } from '../judges/allowed.js';
import { LISTED_SUFFIX } from '../scene.js';
import { throughProxy, toSinkDirectly } from './attempts.js';

export const proxyListedConnect: AttemptClaim = {
  type: 'attempt',
  id: 'proxy.listed.connect',
  claim: 'a listed name is reached through a CONNECT tunnel of the proxy',
  layer: 'policy',
  hint: 'watertight provision HOST',
  expectation: 'allowed',
  counter: 'proxy',
  attempts: ({ tenant }) => [throughProxy('proxy.listed.connect', 'proxy-connect', tenant, LISTED_SUFFIX)],
  control: toSinkDirectly,
  judge: fetchedThroughProxy,
};
