import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';

/** A loaded rule is not an effective rule; but a table that differs from the profile is no proof of anything at all. */
export const identityRuleset: StateClaim = {
  type: 'state',
  id: 'identity.ruleset',
  claim: 'the live table is the profile: the same rules, hooks, flags and cgroup ids',
  layer: 'identity',
  hint: 'watertight provision HOST',
  judge: ({ ruleset }) => {
    if (ruleset.kind === 'absent') return disproved('the table inet watertight is not loaded');
    if (ruleset.kind === 'unknown') return inconclusive(ruleset.reason);
    const { comparison } = ruleset;
    switch (comparison.kind) {
      case 'equal':
        return proven('its listing equals that of the profile, loaded anew beside it');
      case 'differs':
        return disproved(comparison.reason);
      case 'unknown':
        return inconclusive(comparison.reason);
    }
  },
};
