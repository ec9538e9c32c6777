import type { AttemptClaim } from '../claim.js';
import { proxyAnswers } from '../judges/allowed.js';
import { UNLISTED_SUFFIX } from '../scene.js';
import { throughProxy, toSinkDirectly } from './attempts.js';

/** Asked for a name that is not listed, so that its answer says nothing of any far side. */
export const proxyAnswersClaim: AttemptClaim = {
  type: 'attempt',
  id: 'proxy.answers',
  claim: "the tenant's egress proxy answers a confined process",
  layer: 'policy',
  hint: 'watertight provision HOST',
  expectation: 'denied-by-proxy',
  counter: 'proxy',
  attempts: ({ tenant }) => [throughProxy('proxy.answers', 'proxy-http', tenant, UNLISTED_SUFFIX)],
  control: toSinkDirectly,
  judge: proxyAnswers,
};
