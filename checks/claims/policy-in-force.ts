import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';

/** A file that was edited, or a proxy that still runs on what it read before, decides by another allowlist. */
export const policyInForce: StateClaim = {
  type: 'state',
  id: 'policy.in-force',
  claim: "the policy that the tenant's proxy decides by is the profile's, and it enforces it",
  layer: 'policy',
  hint: 'watertight provision HOST',
  judge: ({ policy }) => {
    if (policy.kind === 'unknown') return inconclusive(policy.reason);
    if (policy.file !== policy.profile)
      return disproved('the policy file was changed: it is not the one of the profile');
    if (policy.proxy !== policy.profile)
      return disproved('the running proxy decides by another policy than the profile has');
    if (policy.mode !== 'enforce') return disproved(`the proxy does not enforce its policy: mode ${policy.mode}`);
    return proven(`profile, file and running proxy agree (sha256 ${policy.profile.slice(0, 12)}…)`);
  },
};
