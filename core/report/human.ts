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
  const header = ['claim', 'tenant', 'expected', 'attempts', 'counter', 'counted', 'proxy lines', 'arrivals'];
  const cells = rows.map((row) => [
    printable(row.claim),
    printable(row.tenant),
    row.expectation,
    row.attempts,
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

/** A claim that is not proven: the reason, what it rests on, and what mends it. */
function claimTrouble(claim: ClaimResult, colours: Colours): string[] {
  const observed = Object.entries(claim.evidence).map(([key, value]) => `${printable(key)}: ${printableJson(value)}`);
  return [claimLine(claim, colours), ...indented([printable(claim.reason), ...observed, ...fixLines(claim.hint)])];
}

function troubles(record: RunRecord, colours: Colours): string[] {
  const failures = record.failures.flatMap(({ kind, reason, fix }) => [
    `${mark('error', colours)}  ${printable(kind)}: ${printable(reason)}`,
    ...indented(fixLines(fix)),
  ]);
  const prerequisites = record.prerequisites
    .filter(({ presence }) => presence !== 'present')
    .flatMap((result) => [prerequisiteLine(result, colours), ...indented(fixLines(result.fix))]);
  const claims = record.claims.filter(({ verdict }) => verdict !== 'proven');
  return [...failures, ...prerequisites, ...claims.flatMap((claim) => claimTrouble(claim, colours))];
}

function summaryLine(record: RunRecord, colours: Colours): string {
  const sentence = printable(summarize(record));
  const exit = exitOfRun(record);
  if (exit === EXIT.yes) return colours.green(sentence);
  return exit === EXIT.no ? colours.red(sentence) : colours.yellow(sentence);
}

/** What is said after the last event: the ledger, then what failed, then one sentence. */
function closing(record: RunRecord, colours: Colours): string[] {
  const lines: string[] = [];
  if (record.ledger.length > 0) lines.push('', colours.bold('Ledger'), ...ledgerLines(record.ledger));
  const failed = troubles(record, colours);
  if (failed.length > 0) lines.push('', colours.bold('What is not proven'), ...failed);
  lines.push('', summaryLine(record, colours));
  return lines;
}

/** For a person: a line a claim while it runs, then the ledger, what failed with its evidence and fix, and a sentence. */
export function humanReporter({ write, colours, interactive }: Output): Reporter {
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
      else if (event.type === 'prerequisite' && event.presence !== 'present') say(prerequisiteLine(event, colours));
      else if (event.type === 'claim') say(claimLine(event, colours));
      else if (event.type === 'progress' && interactive) {
        // Overwritten by the next line; cut to one row so that it can be.
        write(`${transient ? '\r\u001b[K' : ''}${colours.dim(`… ${printable(event.text).slice(0, 72)}`)}`);
        transient = true;
      }
    },
    end(): void {
      for (const line of closing(record, colours)) say(line);
    },
  };
}
