import type { VerifyEvent } from '../events.js';
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
export function pointOf(event: VerifyEvent): TestPoint | null {
  switch (event.type) {
    case 'started':
    case 'progress':
    case 'finished':
      return null;
    case 'prerequisite': {
      const { id, presence, reason, fix, found } = event;
      return {
        suite: 'prerequisites',
        name: id,
        answer: ANSWERS[presence],
        word: presence,
        reason,
        fix,
        details: { found },
      };
    }
    case 'claim': {
      const { tenant, id, claim, verdict, reason, hint, layer, evidence } = event;
      const details = { layer, evidence };
      return {
        suite: tenant,
        name: `${id}: ${claim}`,
        answer: ANSWERS[verdict],
        word: verdict,
        reason,
        fix: hint,
        details,
      };
    }
    case 'ledger': {
      const { type: _, ...figures } = event;
      return {
        suite: event.tenant,
        name: `ledger of ${event.claim} balances`,
        answer: event.balanced ? 'yes' : 'could not tell',
        word: event.balanced ? 'balanced' : 'unbalanced',
        reason: event.balanced ? 'the figures agree' : 'the figures do not agree; the claim says what that means',
        fix: null,
        details: figures,
      };
    }
    case 'failure': {
      const { kind, reason, fix } = event;
      return { suite: 'run', name: kind, answer: 'could not tell', word: 'failure', reason, fix, details: {} };
    }
    default:
      return event satisfies never;
  }
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
