import type { Target } from '../../core/target/target.js';
import type { Change } from '../../profiles/resources/change.js';
import { rollbackOf } from '../../profiles/resources/rollback.js';
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
  for (const { id, stage, summary, operations, undo, settle } of changes) {
    if (signal.aborted) return { kind: 'aborted' };
    emit({ type: 'step', id, summary, state: 'started', detail: '' });
    journal.note({ id, stage, undo, settle });
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

/**
 * Takes back everything that the journal names. Permissions come back last, and only where the rest succeeded.
 * @returns what could not be taken back; the journal is kept then, for the next run
 */
export async function rollBack(target: Target, journal: Journal): Promise<readonly string[]> {
  const { undo, settle, permissions } = rollbackOf(journal.read());
  const failures: string[] = [];
  for (const operation of [...undo, ...settle]) {
    const failure = await perform(target, operation);
    if (failure !== null) failures.push(failure);
  }
  if (failures.length > 0) return failures;
  for (const operation of permissions) {
    const failure = await perform(target, operation);
    if (failure !== null) failures.push(failure);
  }
  if (failures.length === 0) journal.clear();
  return failures;
}
