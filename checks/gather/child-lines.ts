import { isRecord, parseJson } from '../../core/json.js';
import type { Observation } from '../attempt.js';

/** One line of the child's, read at the border: what is not of the form is noise and says nothing. */
export type ChildLine =
  | { readonly kind: 'identity'; readonly pid: number }
  | { readonly kind: 'listening'; readonly id: string; readonly port: number }
  | { readonly kind: 'observations'; readonly observations: readonly Observation[] }
  | { readonly kind: 'noise' };

const OUTCOMES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'silent', 'closed', 'not-http', 'error']);

/** Reads a line of the child’s standard output. */
export function parseChildLine(line: string): ChildLine {
  const value = parseJson(line);
  if (!isRecord(value)) return { kind: 'noise' };
  if (isRecord(value.identity) && Number.isSafeInteger(value.identity.pid)) {
    return { kind: 'identity', pid: value.identity.pid as number };
  }
  if (typeof value.listening === 'string' && Number.isSafeInteger(value.port)) {
    return { kind: 'listening', id: value.listening, port: value.port as number };
  }
  if (Array.isArray(value.observations)) {
    return { kind: 'observations', observations: value.observations.filter(isObservation) };
  }
  return { kind: 'noise' };
}

function isObservation(value: unknown): value is Observation {
  if (!isRecord(value)) return false;
  const { id, stage, outcome, errno, milliseconds, detail } = value;
  if (typeof id !== 'string' || typeof stage !== 'string' || !OUTCOMES.has(outcome)) return false;
  if (errno !== null && typeof errno !== 'string') return false;
  return typeof milliseconds === 'number' && isRecord(detail);
}
