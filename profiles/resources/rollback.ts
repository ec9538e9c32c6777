import type { Change, Operation } from './change.js';
import { DAEMON_RELOAD } from './unit.js';

/** What is noted of a change before it is made, so that it can be taken back whatever happens. */
export type Undoing = Pick<Change, 'id' | 'stage' | 'undo' | 'settle' | 'kept'>;

/** One operation of a rollback, and the change that it is for. */
export interface RollbackStep {
  readonly id: string;
  readonly operation: Operation;
}

/** How a host returns to what it was, in three parts. */
export interface Rollback {
  /** Each change taken back, the last one first. */
  readonly undo: readonly RollbackStep[];
  /** Makes systemd, nft and the proxies take note of the old files: slices first, whose cgroups the ruleset names. */
  readonly settle: readonly RollbackStep[];
  /** Gives permissions back that the run withdrew; only where everything above succeeded. */
  readonly permissions: readonly RollbackStep[];
}

/** @param noted in the order in which the changes were begun */
export function rollbackOf(noted: readonly Undoing[]): Rollback {
  const settling = noted.filter(({ stage, settle }) => stage !== 'withdraw' && settle.length > 0);
  const settle = [...settling].sort((a, b) => settleRank(a) - settleRank(b)).flatMap(settleSteps);
  return {
    undo: [...noted].reverse().flatMap(({ id, undo }) => undo.map((operation) => ({ id, operation }))),
    settle: noted.length > 0 ? [{ id: 'unit:daemon-reload', operation: DAEMON_RELOAD }, ...settle] : [],
    permissions: noted.filter(({ stage }) => stage === 'withdraw').flatMap(settleSteps),
  };
}

function settleSteps({ id, settle }: Undoing): readonly RollbackStep[] {
  return settle.map((operation) => ({ id, operation }));
}

function settleRank({ id, stage }: Undoing): number {
  if (id.endsWith('.slice')) return 1;
  return stage === 'ruleset' ? 2 : 3;
}

/** What became of the changes of a run that was taken back. */
export interface TakenBack {
  /** How many of them are as if they had never been made. */
  readonly changes: number;
  /** What stays nevertheless, one sentence each. */
  readonly kept: readonly string[];
}

/**
 * What a rollback has left of a run.
 * @param unsettled the changes that could not be taken back
 */
export function takenBackOf(noted: readonly Undoing[], unsettled: ReadonlySet<string>): TakenBack {
  const staying = new Set(noted.filter(({ kept }) => kept.length > 0).map(({ id }) => id));
  // Where a run was cut off, the next one notes the same change again.
  const begun = new Set(noted.map(({ id }) => id));
  const withheld = noted.filter(({ id, stage }) => stage === 'withdraw' && unsettled.has(id));
  const words = withheld.map(({ id }) => `the permission ${id.slice(id.indexOf(':') + 1)} stays withdrawn`);
  return {
    changes: [...begun].filter((id) => !staying.has(id) && !unsettled.has(id)).length,
    kept: [...new Set([...noted.flatMap(({ kept }) => kept), ...words])],
  };
}

/** Packages stay in any case; whatever else stays is for another provision to complete. */
export function isWhole(noted: readonly Undoing[]): boolean {
  return noted.every(({ stage, kept }) => stage === 'packages' || kept.length === 0);
}
