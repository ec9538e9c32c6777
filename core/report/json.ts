import { printableJson } from '../printable.js';
import { addEvent, countClaims, countPrerequisites, emptyRecord, exitOfRun, type RunRecord } from './record.js';
import type { Output, Reporter } from './reporter.js';
import { summarize } from './summary.js';

function withoutType(item: object): object {
  const { type: _, ...rest } = item as { type?: string };
  return rest;
}

/** The document that docs/schema/verify-1.schema.json describes. */
function documentOf(record: RunRecord): Readonly<Record<string, unknown>> {
  return {
    schema: 'watertight/verify/1',
    version: record.started?.version ?? null,
    host: record.started?.host ?? null,
    tenants: record.started?.tenants ?? [],
    at: record.started?.at ?? null,
    exit: exitOfRun(record),
    complete: record.finished !== null,
    durationMs: record.finished?.durationMs ?? null,
    summary: summarize(record),
    counts: { claims: countClaims(record.claims), prerequisites: countPrerequisites(record.prerequisites) },
    prerequisites: record.prerequisites.map(withoutType),
    claims: record.claims.map(withoutType),
    ledger: record.ledger.map(withoutType),
    failures: record.failures.map(withoutType),
  };
}

/** One JSON document at the end. */
export function jsonReporter({ write }: Output): Reporter {
  const record = emptyRecord();
  return {
    event: (event) => addEvent(record, event),
    end: () => write(`${printableJson(documentOf(record))}\n`),
  };
}
