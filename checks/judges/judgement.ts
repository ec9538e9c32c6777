import { describeObservation, type Observation } from '../attempt.js';
import type { Judgement, Observed } from '../claim.js';

export const proven = (reason: string): Judgement => ({ verdict: 'proven', reason });
export const disproved = (reason: string): Judgement => ({ verdict: 'disproved', reason });
export const inconclusive = (reason: string): Judgement => ({ verdict: 'inconclusive', reason });

/** A rule: an answer where it applies, null where the next one is to be asked. */
export type Rule = (observed: Observed) => Judgement | null;

/** The first rule that applies decides. */
export function firstOf(rules: readonly Rule[], otherwise: (observed: Observed) => Judgement) {
  return (observed: Observed): Judgement => {
    for (const rule of rules) {
      const judgement = rule(observed);
      if (judgement !== null) return judgement;
    }
    return otherwise(observed);
  };
}

/** Every attempt needs an observation of its own, and none may be a fault of the child's. */
export const everyAttemptWasMade: Rule = ({ attempts, confined, childProblem }) => {
  if (childProblem !== null) return inconclusive(`the confined child did not start: ${childProblem}`);
  const seen = new Set(confined.map(({ id }) => id));
  const missing = attempts.filter(({ id }) => !seen.has(id));
  if (attempts.length === 0) return inconclusive('no attempt could be made on this host');
  if (missing.length > 0) return inconclusive(`the confined child said nothing of ${missing.length} attempts`);
  const faults = confined.filter(({ outcome }) => outcome === 'error');
  if (faults.length === 0) return null;
  return inconclusive(`the confined child could not try: ${String(faults[0]?.detail.fault ?? 'unknown fault')}`);
};

/** Without a control that arrives, "refused" may mean "nothing listens". */
export const controlArrived: Rule = ({ control, controlAttempts, controlArrivals }) => {
  if (controlAttempts > 0 && controlArrivals >= controlAttempts) return null;
  const said = summarise(control.filter(({ outcome }) => outcome !== 'completed')) || 'no observation';
  return inconclusive(
    `the control, the same attempts unconfined, arrived ${controlArrivals} of ${controlAttempts} times (${said}): ` +
      'what the confined child saw shows nothing',
  );
};

/** Observations in a few words, equal ones counted: `3 × connect: ECONNREFUSED`. */
export function summarise(observations: readonly Observation[]): string {
  const counts = new Map<string, number>();
  for (const observation of observations) {
    const words = describeObservation(observation);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => (count > 1 ? `${count} × ${words}` : words)).join(', ');
}
