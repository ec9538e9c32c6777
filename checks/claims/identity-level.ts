import { BASE_CHAINS, VERDICT_MAPS } from '../../profiles/names.js';
import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';
import { chainOf } from '../listing.js';

/** A wrong level loads with status 0 and never matches. It counts from the cgroup2 root (nft(8), socket cgroupv2). */
export const identityLevel: StateClaim = {
  type: 'state',
  id: 'identity.level',
  claim: "the rule looks at the level at which the tenant's cgroup really is",
  layer: 'identity',
  hint: 'watertight provision HOST',
  judge: ({ ruleset, child }) => {
    if (ruleset.kind === 'absent') return disproved('the table inet watertight is not loaded');
    if (ruleset.kind === 'unknown') return inconclusive(ruleset.reason);
    if (child.kind === 'unknown') return inconclusive(child.reason);
    // The child's unit is one level below its slice.
    const depth = child.identity.cgroup.split('/').length - 1;
    const rule = new RegExp(`socket cgroupv2 level (\\d+) vmap @${VERDICT_MAPS.cgroupsOut}\\b`);
    const level = rule.exec(chainOf(ruleset.live, BASE_CHAINS.output))?.[1];
    if (level === undefined) return disproved('the output chain asks for no cgroup');
    if (Number(level) !== depth)
      return disproved(`the rule looks at level ${level}, and the slice is at level ${depth}`);
    return proven(`level ${level}`);
  },
};
