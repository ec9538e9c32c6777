import { EXIT } from '../outcome.js';
import { type Counts, countClaims, countPrerequisites, exitOfRun, incompleteness, type RunRecord } from './record.js';

function sayCounts(what: string, counts: Counts, yes: string, no: string): string {
  return `${what}: ${counts.yes} ${yes}, ${counts.no} ${no}, ${counts.couldNotTell} could not be told`;
}

function sayBalance(record: RunRecord): string {
  const unbalanced = record.ledger.filter((row) => !row.balanced).length;
  if (unbalanced === 0) return 'the ledger balances';
  return unbalanced === 1 ? '1 row of the ledger does not balance' : `${unbalanced} rows of the ledger do not balance`;
}

function sayAnswer(record: RunRecord): string {
  const exit = exitOfRun(record);
  const host = record.started?.host ?? 'the host';
  if (exit === EXIT.yes) return `${host} is contained`;
  if (exit !== EXIT.no) return `could not tell about ${host}, which is not a pass`;
  return countClaims(record.claims).no > 0 ? `${host} is NOT contained` : `${host} lacks what containment needs`;
}

/** The run in one sentence that keeps the three answers apart. Not yet made printable. */
export function summarize(record: RunRecord): string {
  const parts: string[] = [];
  const prerequisites = countPrerequisites(record.prerequisites);
  if (record.claims.length > 0) parts.push(sayCounts('claims', countClaims(record.claims), 'proven', 'disproved'));
  const asked = record.prerequisites.length > 0;
  if (asked && (prerequisites.no + prerequisites.couldNotTell > 0 || record.claims.length === 0))
    parts.push(sayCounts('prerequisites', prerequisites, 'present', 'absent'));
  if (record.ledger.length > 0) parts.push(sayBalance(record));
  const incomplete = incompleteness(record);
  if (incomplete !== null) parts.push(incomplete);
  const seconds = record.finished === null ? '' : ` (${(record.finished.durationMs / 1000).toFixed(1)} s)`;
  return `${sayAnswer(record)}: ${parts.join('; ')}${seconds}.`;
}
