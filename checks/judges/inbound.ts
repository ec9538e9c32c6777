import type { Judgement, Observed } from '../claim.js';
import { controlArrived, disproved, everyAttemptWasMade, firstOf, inconclusive, proven } from './judgement.js';

/**
 * Judges "nobody outside can open a connection to it". The child listens and the sink dials: `arrivals` are the
 * connections that the confined listener took, and its observation holds what each dial came to.
 */
export const unreachableFromOutside: (observed: Observed) => Judgement = firstOf(
  [
    ({ arrivals }) =>
      arrivals > 0 ? disproved(`the confined listener took ${arrivals} connections from outside`) : null,
    everyAttemptWasMade,
    ({ confined }) => {
      const deaf = confined.filter(({ outcome }) => outcome !== 'completed');
      return deaf.length > 0 ? inconclusive(`the confined child could not listen (${deaf[0]?.stage})`) : null;
    },
    ({ attempts, counters }) => {
      if (counters.kind === 'absent') return disproved(counters.reason);
      if (counters.kind === 'unknown') return inconclusive(counters.reason);
      const { inbound } = counters.moved;
      if (inbound === undefined) return disproved('the counter inbound is not in the live table');
      if (inbound === attempts.length) return null;
      const said = `the counter inbound moved by ${inbound} for ${attempts.length} connections from outside`;
      return inbound < attempts.length ? disproved(`refused, but not by its rule: ${said}`) : inconclusive(said);
    },
    controlArrived,
  ],
  ({ attempts }) =>
    proven(`${attempts.length} of ${attempts.length} connections from outside refused, each counted by inbound`),
);
