import type { Target } from '../../core/target/target.js';
import type { Change } from '../../profiles/resources/change.js';
import {
  isWhole,
  type RollbackStep,
  rollbackOf,
  type TakenBack,
  takenBackOf,
} from '../../profiles/resources/rollback.js';
import type { Emit } from './events.js';
import type { Journal } from './journal.js';
import { perform } from './perform.js';

export type Applied =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'aborted' };

/** Makes changes one after the other, each noted in the journal before it is begun. Stops at the first that fails. */
export async function applyChanges(
  changes: readonly Change[],
  context: { readonly target: Target; readonly journal: Journal; readonly emit: Emit; readonly signal: AbortSignal },
): Promise<Applied> {
  const { target, journal, emit, signal } = context;
  for (const { id, stage, summary, operations, undo, settle, kept } of changes) {
    if (signal.aborted) return { kind: 'aborted' };
    emit({ type: 'step', id, summary, state: 'started', detail: '' });
    journal.note({ id, stage, undo, settle, kept });
    for (const operation of operations) {
      const failure = await perform(target, operation, (text) => emit({ type: 'progress', text }));
      if (failure === null) continue;
      emit({ type: 'step', id, summary, state: 'failed', detail: failure });
      return { kind: 'failed', reason: `${summary}: ${failure}` };
    }
    emit({ type: 'step', id, summary, state: 'done', detail: '' });
  }
  return { kind: 'done' };
}

export interface RolledBack extends TakenBack {
  /** What could not be taken back, and why; the journal is kept then, for the next run. */
  readonly failures: readonly string[];
  /** Nothing stays but packages. */
  readonly whole: boolean;
}

/** Takes back everything that the journal names. Permissions come back last, and only where the rest succeeded. */
export async function rollBack(target: Target, journal: Journal): Promise<RolledBack> {
  const noted = journal.read();
  const { undo, settle, permissions } = rollbackOf(noted);
  const failures: string[] = [];
  const unsettled = new Set<string>();
  const carryOut = async (steps: readonly RollbackStep[]) => {
    for (const { id, operation } of steps) {
      const failure = await perform(target, operation);
      if (failure === null) continue;
      failures.push(failure);
      unsettled.add(id);
    }
  };
  await carryOut([...undo, ...settle]);
  if (failures.length === 0) await carryOut(permissions);
  else for (const { id } of permissions) unsettled.add(id);
  if (failures.length === 0) journal.clear();
  return { ...takenBackOf(noted, unsettled), failures, whole: isWhole(noted) };
}
