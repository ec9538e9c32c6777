import type { AttemptClaim } from '../claim.js';
import { fetchedThroughProxy } from '../judges/allowed.js';
import { LISTED_SUFFIX } from '../scene.js';
import { throughProxy, toSinkDirectly } from './attempts.js';

export const proxyListedHttp: AttemptClaim = {
  type: 'attempt',
  id: 'proxy.listed.http',
  claim: 'a listed name is fetched through the proxy over plain HTTP',
  layer: 'policy',
  hint: 'watertight provision HOST',
  expectation: 'allowed',
  counter: 'proxy',
  attempts: ({ tenant }) => [throughProxy('proxy.listed.http', 'proxy-http', tenant, LISTED_SUFFIX)],
  control: toSinkDirectly,
  judge: fetchedThroughProxy,
};
