import { parseJson } from '../../core/json.js';
import type { ProvisionEvent } from './events.js';

type FieldType = 'string' | 'number' | 'array';

/** The fields without which an event of that type says nothing. */
const REQUIRED: Readonly<Record<ProvisionEvent['type'], Readonly<Record<string, FieldType>>>> = {
  started: { host: 'string', version: 'string', tenants: 'array' },
  plan: { changes: 'array' },
  step: { id: 'string', summary: 'string', state: 'string', detail: 'string' },
  confirm: { withinMs: 'number' },
  rollback: { reason: 'string' },
  progress: { text: 'string' },
  prerequisite: { id: 'string', presence: 'string', reason: 'string' },
  claim: { id: 'string', tenant: 'string', claim: 'string', verdict: 'string', reason: 'string' },
  ledger: { claim: 'string', tenant: 'string' },
  failure: { kind: 'string', reason: 'string' },
  finished: { exit: 'number', result: 'string', changes: 'number', durationMs: 'number' },
};

/** One line that the run on a host wrote, or null where it is no event: a warning of some program, say. */
export function readEvent(line: string): ProvisionEvent | null {
  const value = parseJson(line);
  return isEvent(value) ? value : null;
}

function isEvent(value: unknown): value is ProvisionEvent {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(REQUIRED, type)) return false;
  const required = REQUIRED[type as ProvisionEvent['type']];
  const fields = value as Record<string, unknown>;
  if (!Object.entries(required).every(([name, kind]) => isOfKind(fields[name], kind))) return false;
  return type !== 'finished' || fields.takenBack === undefined || isTakenBack(fields.takenBack);
}

function isTakenBack(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('changes' in value) || !('kept' in value)) return false;
  const { changes, kept } = value;
  return typeof changes === 'number' && Array.isArray(kept) && kept.every((words) => typeof words === 'string');
}

function isOfKind(value: unknown, kind: FieldType): boolean {
  return kind === 'array' ? Array.isArray(value) : typeof value === kind;
}
