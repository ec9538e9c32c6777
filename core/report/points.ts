import type { EventOf, VerifyEvent } from '../events.js';
import { addEvent, emptyRecord, incompleteness, type RunRecord } from './record.js';

/** One line of a test report, for formats that know tests: TAP and JUnit. */
export interface TestPoint {
  readonly suite: string;
  readonly name: string;
  readonly answer: 'yes' | 'no' | 'could not tell';
  /** Our own word for the answer. */
  readonly word: string;
  readonly reason: string;
  readonly fix: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const ANSWERS = {
  proven: 'yes',
  present: 'yes',
  disproved: 'no',
  absent: 'no',
  inconclusive: 'could not tell',
  error: 'could not tell',
} as const;

/** The test point that an event amounts to; null where it is none. */
function pointOf(event: VerifyEvent): TestPoint | null {
  switch (event.type) {
    case 'started':
    case 'progress':
    case 'finished':
      return null;
    case 'prerequisite':
      return prerequisitePoint(event);
    case 'claim':
      return claimPoint(event);
    case 'ledger':
      return ledgerPoint(event);
    case 'failure':
      return failurePoint(event);
    default:
      return event satisfies never;
  }
}

function prerequisitePoint({ id, presence, reason, fix, found }: EventOf<'prerequisite'>): TestPoint {
  const answer = ANSWERS[presence];
  return { suite: 'prerequisites', name: id, answer, word: presence, reason, fix, details: { found } };
}

function claimPoint({ tenant, id, claim, verdict, reason, hint, layer, evidence }: EventOf<'claim'>): TestPoint {
  const answer = ANSWERS[verdict];
  const details = { layer, evidence };
  return { suite: tenant, name: `${id}: ${claim}`, answer, word: verdict, reason, fix: hint, details };
}

function ledgerPoint({ type: _, ...figures }: EventOf<'ledger'>): TestPoint {
  return {
    suite: figures.tenant,
    name: `ledger of ${figures.claim} balances`,
    answer: figures.balanced ? 'yes' : 'could not tell',
    word: figures.balanced ? 'balanced' : 'unbalanced',
    reason: figures.balanced ? 'the figures agree' : 'the figures do not agree; the claim says what that means',
    fix: null,
    details: figures,
  };
}

function failurePoint({ kind, reason, fix }: EventOf<'failure'>): TestPoint {
  return { suite: 'run', name: kind, answer: 'could not tell', word: 'failure', reason, fix, details: {} };
}

/** The point that keeps an incomplete run from looking green: such formats read "no tests" as a pass. */
export function closingPoint(record: RunRecord): TestPoint | null {
  const reason = incompleteness(record);
  if (reason === null) return null;
  return {
    suite: 'run',
    name: 'the run is complete',
    answer: 'could not tell',
    word: 'incomplete',
    reason,
    fix: null,
    details: {},
  };
}

/** Collects the points of a run while its events come in. */
export function pointCollector(): {
  record: RunRecord;
  points: TestPoint[];
  add(event: VerifyEvent): TestPoint | null;
} {
  const record = emptyRecord();
  const points: TestPoint[] = [];
  const add = (event: VerifyEvent): TestPoint | null => {
    addEvent(record, event);
    const point = pointOf(event);
    if (point !== null) points.push(point);
    return point;
  };
  return { record, points, add };
}
