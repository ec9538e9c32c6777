import type { Change, Operation } from './change.js';
import { DAEMON_RELOAD } from './unit.js';

/** What is noted of a change before it is made, so that it can be taken back whatever happens. */
export type Undoing = Pick<Change, 'id' | 'stage' | 'undo' | 'settle'>;

/** How a host returns to what it was, in three parts. */
export interface Rollback {
  /** Each change taken back, the last one first. */
  readonly undo: readonly Operation[];
  /** Makes systemd, nft and the proxies take note of the old files: slices first, whose cgroups the ruleset names. */
  readonly settle: readonly Operation[];
  /** Gives permissions back that the run withdrew; only where everything above succeeded. */
  readonly permissions: readonly Operation[];
}

/** @param noted in the order in which the changes were begun */
export function rollbackOf(noted: readonly Undoing[]): Rollback {
  const settling = noted.filter(({ stage, settle }) => stage !== 'withdraw' && settle.length > 0);
  const settle = [...settling].sort((a, b) => settleRank(a) - settleRank(b)).flatMap((undoing) => undoing.settle);
  return {
    undo: [...noted].reverse().flatMap(({ undo }) => undo),
    settle: noted.length > 0 ? [DAEMON_RELOAD, ...settle] : [],
    permissions: noted.filter(({ stage }) => stage === 'withdraw').flatMap((undoing) => undoing.settle),
  };
}

function settleRank({ id, stage }: Undoing): number {
  if (id.endsWith('.slice')) return 1;
  return stage === 'ruleset' ? 2 : 3;
}
