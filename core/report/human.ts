import type { Colours } from '../cli/colours.js';
import type { ClaimResult, LedgerRow, PrerequisiteResult, VerifyEvent } from '../events.js';
import { EXIT, type Presence, type Verdict } from '../outcome.js';
import { printable, printableJson } from '../printable.js';
import { addEvent, emptyRecord, exitOfRun, type RunRecord } from './record.js';
import type { Output, Reporter } from './reporter.js';
import { summarize } from './summary.js';
import { layTable } from './table.js';

type Answer = Presence | Verdict;

/** A symbol and a word each, so that it reads without colour and without Unicode. */
const MARKS: Readonly<
  Record<Answer, { symbol: string; word: string; paint: keyof Colours & ('green' | 'red' | 'yellow') }>
> = {
  proven: { symbol: '✓', word: 'proven', paint: 'green' },
  present: { symbol: '✓', word: 'present', paint: 'green' },
  disproved: { symbol: '✗', word: 'disproved', paint: 'red' },
  absent: { symbol: '✗', word: 'absent', paint: 'red' },
  inconclusive: { symbol: '?', word: 'could not tell', paint: 'yellow' },
  error: { symbol: '?', word: 'could not tell', paint: 'yellow' },
};

function mark(answer: Answer, colours: Colours): string {
  const { symbol, word, paint } = MARKS[answer];
  return colours[paint](`${symbol} ${word.padEnd(14)}`);
}

function prerequisiteLine(result: PrerequisiteResult, colours: Colours): string {
  const found = result.found === '' ? '' : ` (${printable(result.found)})`;
  return `${mark(result.presence, colours)}  ${printable(result.id)}: ${printable(result.reason)}${found}`;
}

function claimLine(claim: ClaimResult, colours: Colours): string {
  return `${mark(claim.verdict, colours)}  ${printable(claim.tenant)}  ${printable(claim.id)}: ${printable(claim.claim)}`;
}

function ledgerLines(rows: readonly LedgerRow[]): string[] {
  const header = ['claim', 'tenant', 'expected', 'attempts', 'sent', 'counter', 'counted', 'proxy lines', 'arrivals'];
  const cells = rows.map((row) => [
    printable(row.claim),
    printable(row.tenant),
    row.expectation,
    row.attempts,
    row.sent,
    row.counter === null ? '-' : printable(row.counter),
    row.counted ?? '-',
    row.proxyLines ?? '-',
    row.arrivals ?? '-',
    `${row.controlArrivals} of ${row.controlAttempts}`,
    row.balanced ? 'yes' : 'NO',
  ]);
  return layTable([...header, 'control', 'balanced'], cells);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

function fixLines(fix: string | null): string[] {
  return fix === null ? [] : [`fix: ${printable(fix)}`];
}

/** Claims that are not proven for the same reason and mended by the same command: said once, with all their names. */
function claimGroups(claims: readonly ClaimResult[]): readonly (readonly [ClaimResult, ...ClaimResult[]])[] {
  const groups = new Map<string, [ClaimResult, ...ClaimResult[]]>();
  for (const claim of claims) {
    const key = JSON.stringify([claim.tenant, claim.verdict, claim.reason, claim.hint]);
    const group = groups.get(key);
    if (group) group.push(claim);
    else groups.set(key, [claim]);
  }
  return [...groups.values()];
}

/** A group of claims: their names, the reason, what it rests on where that is wanted, and what mends it. */
function claimTrouble(group: readonly [ClaimResult, ...ClaimResult[]], evidence: boolean, colours: Colours): string[] {
  const [first] = group;
  const names = group.map(({ id }) => printable(id)).join(', ');
  const observed = (claim: ClaimResult) =>
    Object.entries(claim.evidence).map(([key, value]) => `${printable(key)}: ${printableJson(value)}`);
  return [
    `${mark(first.verdict, colours)}  ${printable(first.tenant)}  ${names}`,
    ...indented([
      printable(first.reason),
      ...(evidence ? group.flatMap((claim) => [printable(claim.id), ...indented(observed(claim))]) : []),
      ...fixLines(first.hint),
    ]),
  ];
}

function troubles(record: RunRecord, evidence: boolean, colours: Colours): string[] {
  const failures = record.failures.flatMap(({ kind, reason, fix }) => [
    `${mark('error', colours)}  ${printable(kind)}: ${printable(reason)}`,
    ...indented(fixLines(fix)),
  ]);
  const prerequisites = record.prerequisites
    .filter(({ presence }) => presence !== 'present')
    .flatMap((result) => [prerequisiteLine(result, colours), ...indented(fixLines(result.fix))]);
  const claims = claimGroups(record.claims.filter(({ verdict }) => verdict !== 'proven'));
  return [...failures, ...prerequisites, ...claims.flatMap((group) => claimTrouble(group, evidence, colours))];
}

function summaryLine(record: RunRecord, colours: Colours): string {
  const sentence = printable(summarize(record));
  const exit = exitOfRun(record);
  if (exit === EXIT.yes) return colours.green(sentence);
  return exit === EXIT.no ? colours.red(sentence) : colours.yellow(sentence);
}

/** What is said after the last event: the ledger, then what failed, then one sentence. */
function closing(record: RunRecord, evidence: boolean, colours: Colours): string[] {
  const lines: string[] = [];
  if (record.ledger.length > 0) lines.push('', colours.bold('Ledger'), ...ledgerLines(record.ledger));
  const failed = troubles(record, evidence, colours);
  if (failed.length > 0) lines.push('', colours.bold('What is not proven'), ...failed);
  lines.push('', summaryLine(record, colours));
  return lines;
}

/** For a person: a line a claim while it runs, then the ledger, what failed with its reason and fix, and a sentence. */
export function humanReporter({ write, colours, interactive, evidence = false }: Output): Reporter {
  const record = emptyRecord();
  let transient = false;
  const say = (line: string): void => {
    write(`${transient ? '\r\u001b[K' : ''}${line}\n`);
    transient = false;
  };
  return {
    event(event: VerifyEvent): void {
      addEvent(record, event);
      if (event.type === 'started') say(printable(`watertight ${event.version}: ${event.host}`));
      else if (event.type === 'claim') say(claimLine(event, colours));
      else if (event.type === 'progress' && interactive) {
        // Overwritten by the next line; cut to one row so that it can be.
        write(`${transient ? '\r\u001b[K' : ''}${colours.dim(`… ${printable(event.text).slice(0, 72)}`)}`);
        transient = true;
      }
    },
    end(): void {
      for (const line of closing(record, evidence, colours)) say(line);
    },
  };
}
