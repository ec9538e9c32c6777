import type { ClaimResult, EventOf, LedgerRow, PrerequisiteResult, VerifyEvent } from '../events.js';
import { EXIT, type ExitCode, exitOf } from '../outcome.js';

/** All that one run said, sorted by kind. */
export interface RunRecord {
  started: EventOf<'started'> | null;
  readonly prerequisites: PrerequisiteResult[];
  readonly claims: ClaimResult[];
  readonly ledger: LedgerRow[];
  readonly failures: EventOf<'failure'>[];
  finished: EventOf<'finished'> | null;
}

/** The record of a run of which nothing has been heard. */
export function emptyRecord(): RunRecord {
  return { started: null, prerequisites: [], claims: [], ledger: [], failures: [], finished: null };
}

/** Adds an event to the record. */
export function addEvent(record: RunRecord, event: VerifyEvent): void {
  switch (event.type) {
    case 'started':
      record.started = event;
      return;
    case 'progress':
      return;
    case 'prerequisite':
      record.prerequisites.push(event);
      return;
    case 'claim':
      record.claims.push(event);
      return;
    case 'ledger':
      record.ledger.push(event);
      return;
    case 'failure':
      record.failures.push(event);
      return;
    case 'finished':
      record.finished = event;
      return;
    default:
      event satisfies never;
  }
}

/**
 * The exit code that the answers so far amount to. A no outweighs a could-not-tell; a run without a claim, with a
 * failure or with figures that do not agree is never a pass.
 */
export function exitOfAnswers(record: RunRecord): ExitCode {
  const presences = record.prerequisites.map(({ presence }) => presence);
  const verdicts = record.claims.map(({ verdict }) => verdict);
  const answers = exitOf([...presences, ...verdicts]);
  if (answers === EXIT.no) return EXIT.no;
  const balanced = record.ledger.every((row) => row.balanced);
  const told = record.claims.length > 0 && record.failures.length === 0 && balanced;
  return told ? answers : EXIT.couldNotTell;
}

/** The exit code of a whole run: as its answers, and a pass only if the run finished and says the same of itself. */
export function exitOfRun(record: RunRecord): ExitCode {
  const answers = exitOfAnswers(record);
  if (answers !== EXIT.yes) return answers;
  return record.finished?.exit === EXIT.yes ? EXIT.yes : EXIT.couldNotTell;
}

/** How many gave each answer. */
export interface Counts {
  readonly yes: number;
  readonly no: number;
  readonly couldNotTell: number;
}

/** Counts the three answers apart. */
export function countClaims(claims: readonly ClaimResult[]): Counts {
  const of = (verdict: ClaimResult['verdict']): number => claims.filter((claim) => claim.verdict === verdict).length;
  return { yes: of('proven'), no: of('disproved'), couldNotTell: of('inconclusive') };
}

/** Counts the three answers apart. */
export function countPrerequisites(results: readonly PrerequisiteResult[]): Counts {
  const of = (presence: PrerequisiteResult['presence']): number =>
    results.filter((result) => result.presence === presence).length;
  return { yes: of('present'), no: of('absent'), couldNotTell: of('error') };
}

/** Why a run is incomplete, in a sentence; null where it is complete. Every format says this, so that none looks green. */
export function incompleteness(record: RunRecord): string | null {
  if (record.finished === null) return 'the run was cut off before it finished';
  if (record.claims.length === 0) return 'no claim was judged';
  if (exitOfAnswers(record) === EXIT.yes && record.finished.exit !== EXIT.yes)
    return 'the run does not call itself a pass';
  return null;
}
