import type { Attempt } from '../attempt.js';
import type { Judgement, Observed } from '../claim.js';
import { disproved, everyAttemptWasMade, firstOf, inconclusive, proven } from './judgement.js';

/**
 * Judges "these doors are shut": none opened for the confined child. A door that does not open for an unconfined process
 * either is not there on this host, and its being shut says nothing; so enough others have to open for that one.
 */
export const shutDoors: (observed: Observed) => Judgement = firstOf(
  [
    ({ attempts, confined }) => {
      const open = confined.filter(({ outcome }) => outcome === 'completed').map(({ id }) => doorOf(attempts, id));
      return open.length > 0 ? disproved(`open to a confined process: ${[...new Set(open)].join(', ')}`) : null;
    },
    everyAttemptWasMade,
    ({ attempts, control }) => {
      const opened = openedBy(control);
      if (opened * 2 > attempts.length) return null;
      return inconclusive(
        `only ${opened} of ${attempts.length} doors opened for an unconfined process: the rest shows nothing`,
      );
    },
  ],
  ({ attempts, control }) =>
    proven(`${attempts.length} tried and shut, of which ${openedBy(control)} open for an unconfined process`),
);

function openedBy(control: Observed['control']): number {
  return control.filter(({ outcome }) => outcome === 'completed').length;
}

function doorOf(attempts: readonly Attempt[], id: string): string {
  const attempt = attempts.find((one) => one.id === id);
  return attempt?.path ?? attempt?.door ?? id;
}
