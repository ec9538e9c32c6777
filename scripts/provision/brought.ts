import type { ProvisionEvent } from './events.js';

type Finished = Extract<ProvisionEvent, { type: 'finished' }>;

/** What the controller does on a host before the run there begins, and what of it stays where that is taken back. */
export interface Brought {
  readonly summary: string;
  readonly kept: readonly string[];
}

/** No run on the host takes it away again. */
export function staying({ summary, kept }: Brought): Brought {
  return { summary, kept: kept.length > 0 ? kept : [`it stays done: ${summary}`] };
}

/** The end of a run with what was done before it: that counts, and packages stay though the run is taken back. */
export function withBrought(finished: Finished, brought: readonly Brought[]): Finished {
  if (brought.length === 0) return finished;
  const changes = finished.changes + brought.length;
  const isUntouched = finished.result === 'untouched';
  const { takenBack = isUntouched ? { changes: 0, kept: [] } : undefined } = finished;
  if (takenBack === undefined) return { ...finished, changes };
  const kept = [...brought.flatMap((change) => change.kept), ...takenBack.kept];
  return {
    ...finished,
    result: isUntouched ? 'rolled-back' : finished.result,
    changes,
    takenBack: { changes: takenBack.changes + brought.filter((change) => change.kept.length === 0).length, kept },
  };
}
