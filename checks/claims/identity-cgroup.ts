import { VERDICT_MAPS } from '../../profiles/names.js';
import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';
import { elementsOf } from '../listing.js';

/**
 * The rule holds the cgroup's inode number as of its load. After the slice was stopped and started the path is the same
 * and the id is another: nft then lists a bare number, and the rule matches nothing.
 */
export const identityCgroup: StateClaim = {
  type: 'state',
  id: 'identity.cgroup',
  claim: "the confined process is in the tenant's cgroup, and the rule holds that cgroup's id",
  layer: 'identity',
  hint: 'watertight provision HOST',
  judge: ({ ruleset, cgroup, child }) => {
    if (ruleset.kind === 'absent') return disproved('the table inet watertight is not loaded');
    if (ruleset.kind === 'unknown') return inconclusive(ruleset.reason);
    if (cgroup.inode === null) return disproved(`there is no cgroup ${cgroup.path}`);
    const keys = elementsOf(ruleset.live, VERDICT_MAPS.cgroupsOut);
    if (!keys.includes(cgroup.path)) {
      const stale = keys.filter((key) => /^\d+$/.test(key));
      const instead =
        stale.length > 0 ? `it holds the id ${stale.join(', ')} of a cgroup that is gone` : 'no rule names it';
      return disproved(`${cgroup.path} has the id ${cgroup.inode}, and ${instead}`);
    }
    if (child.kind === 'unknown') return inconclusive(child.reason);
    const { identity } = child;
    if (!identity.cgroup.startsWith(`${cgroup.path}/`) || identity.sliceInode !== cgroup.inode) {
      return disproved(`the confined process is in ${identity.cgroup}, not below ${cgroup.path}`);
    }
    return proven(`${identity.cgroup}, below id ${cgroup.inode}`);
  },
};
