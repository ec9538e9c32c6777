import type { LedgerRow } from '../core/events.js';
import { COUNTER_KINDS, type CounterKind, counterName } from '../profiles/names.js';
import type { AttemptClaim, Observed } from './claim.js';
import { packetsDue } from './judges/refused.js';

/** How many packets (for the proxy and inbound: new connections) the claim's counter should have counted. */
function countDue(claim: AttemptClaim, observed: Observed): number {
  switch (claim.counter) {
    case null:
      return 0;
    case 'proxy':
      return packetsDue(observed.confined);
    case 'inbound':
      return observed.confined.filter(({ outcome }) => outcome === 'completed').length;
    case 'tcp':
    case 'udp':
    case 'other':
      return packetsDue(observed.confined);
  }
}

/** The figures of a claim's attempts, side by side, and whether they agree; null for a claim that sends nothing. */
export function ledgerRow(claim: AttemptClaim, tenant: string, observed: Observed): LedgerRow | null {
  if (claim.counter === null) return null;
  const { counters, attempts, arrivals, proxyLines, controlAttempts, controlArrivals } = observed;
  const counted = counters.kind === 'read' ? (counters.moved[claim.counter] ?? null) : null;
  const due = claim.expectation === 'allowed' ? attempts.length : 0;
  const lines = proxyLines === null ? null : proxyLines.length;
  const balanced =
    counted === countDue(claim, observed) &&
    arrivals === due &&
    (lines === null ? claim.counter !== 'proxy' : lines === attempts.length) &&
    controlAttempts > 0 &&
    controlArrivals >= controlAttempts;
  return {
    claim: claim.id,
    tenant,
    expectation: claim.expectation === 'allowed' ? 'allowed' : 'refused',
    attempts: attempts.length,
    sent: countDue(claim, observed),
    counter: counterName(tenant, claim.counter),
    counted,
    proxyLines: lines,
    arrivals,
    controlAttempts,
    controlArrivals,
    balanced,
  };
}

/** Adds up what every claim's attempts should have moved the counters by. */
export function totalDue(parts: readonly { readonly claim: AttemptClaim; readonly observed: Observed }[]) {
  const due = Object.fromEntries(COUNTER_KINDS.map((kind) => [kind, 0])) as Record<CounterKind, number>;
  for (const { claim, observed } of parts) if (claim.counter !== null) due[claim.counter] += countDue(claim, observed);
  return due;
}
