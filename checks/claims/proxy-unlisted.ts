import type { AttemptClaim } from '../claim.js';
import { deniedByProxy } from '../judges/allowed.js';
import { UNLISTED_SUFFIX } from '../scene.js';
import { throughProxy, toSinkDirectly } from './attempts.js';

export const proxyUnlisted: AttemptClaim = {
  type: 'attempt',
  id: 'proxy.unlisted',
  claim: 'an unlisted name is refused by the proxy, over plain HTTP and CONNECT',
  layer: 'policy',
  hint: 'watertight provision HOST',
  expectation: 'denied-by-proxy',
  counter: 'proxy',
  attempts: ({ tenant }) => [
    throughProxy('proxy.unlisted', 'proxy-http', tenant, UNLISTED_SUFFIX),
    throughProxy('proxy.unlisted', 'proxy-connect', tenant, UNLISTED_SUFFIX),
  ],
  control: toSinkDirectly,
  judge: deniedByProxy,
};
