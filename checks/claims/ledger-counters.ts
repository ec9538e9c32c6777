import { COUNTER_KINDS } from '../../profiles/names.js';
import type { LedgerClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';

/** A counter that stands still says that no rule matched; one that moved by more says that something else did. */
export const ledgerCounters: LedgerClaim = {
  type: 'ledger',
  id: 'ledger.counters',
  claim: "the kernel's counters grew by exactly the attempts",
  layer: 'ledger',
  hint: 'watertight provision HOST',
  judge: ({ due, counters }) => {
    if (counters.kind === 'absent') return disproved(counters.reason);
    if (counters.kind === 'unknown') return inconclusive(counters.reason);
    const { moved } = counters;
    const missing = COUNTER_KINDS.filter((kind) => moved[kind] === undefined);
    if (missing.length > 0) return disproved(`the live table lacks the counters ${missing.join(', ')}`);
    const said = (kinds: readonly (keyof typeof due)[]) =>
      kinds.map((kind) => `${kind} ${moved[kind]} of ${due[kind]}`).join(', ');
    const fewer = COUNTER_KINDS.filter((kind) => (moved[kind] ?? 0) < due[kind]);
    if (fewer.length > 0) return disproved(`counted fewer packets than were sent: ${said(fewer)}`);
    const more = COUNTER_KINDS.filter((kind) => (moved[kind] ?? 0) > due[kind]);
    if (more.length > 0)
      return inconclusive(`counted more packets than were sent, so others were counted too: ${said(more)}`);
    return proven(said(COUNTER_KINDS));
  },
};
