import { BASE_CHAINS, inputChain, outputChain, VERDICT_MAPS } from '../../profiles/names.js';
import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';
import { chainOf, isDormant, jumpsOf } from '../listing.js';

/** A chain that no hook reaches, or that nothing jumps to, or in a dormant table, lists like any other. */
export const identityHook: StateClaim = {
  type: 'state',
  id: 'identity.hook',
  claim: "the tenant's chains are reached from the output and input hooks, and the table is not dormant",
  layer: 'identity',
  hint: 'watertight provision HOST',
  judge: ({ ruleset, tenant }) => {
    if (ruleset.kind === 'absent') return disproved('the table inet watertight is not loaded');
    if (ruleset.kind === 'unknown') return inconclusive(ruleset.reason);
    const { live } = ruleset;
    if (isDormant(live)) return disproved('the table is dormant: none of its chains is called');
    for (const hook of ['output', 'input'] as const) {
      if (!new RegExp(`type filter hook ${hook} priority`).test(chainOf(live, BASE_CHAINS[hook]))) {
        return disproved(`no base chain hangs on the ${hook} hook`);
      }
    }
    const missing = [
      { hook: 'output' as const, map: VERDICT_MAPS.cgroupsOut, chain: outputChain(tenant) },
      { hook: 'output' as const, map: VERDICT_MAPS.usersOut, chain: outputChain(tenant) },
      { hook: 'input' as const, map: VERDICT_MAPS.cgroupsIn, chain: inputChain(tenant) },
    ].find(({ hook, map, chain }) => {
      return !chainOf(live, BASE_CHAINS[hook]).includes(`vmap @${map}`) || !jumpsOf(live, map).includes(chain);
    });
    if (missing) return disproved(`nothing on the ${missing.hook} hook jumps to ${missing.chain} by ${missing.map}`);
    return proven('reached from both hooks, by cgroup and by uid');
  },
};
