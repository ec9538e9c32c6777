import type { Colours } from '../../core/cli/colours.js';
import { EXIT } from '../../core/outcome.js';
import { printable, printableJson, printableLines } from '../../core/printable.js';
import type { Emit, PlannedChange, ProvisionEvent, ProvisionResult } from './events.js';

/** Where a report goes: the result to standard output, what happens meanwhile to standard error. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Each stream has its own: one may be a terminal while the other goes into a file. */
  readonly outColours: Colours;
  readonly errColours: Colours;
}

/** One JSON event a line, all on standard output. */
export function ndjsonReport({ out }: Streams): Emit {
  return (event) => out(`${printableJson(event)}\n`);
}

/** For a person. With `diff`, a plan shows what becomes of each file. */
export function humanReport(streams: Streams, options: { readonly dryRun: boolean; readonly diff: boolean }): Emit {
  const { out, err, outColours, errColours } = streams;
  let host = 'the host';
  return (event) => {
    if (event.type === 'started') host = printable(event.host);
    if (event.type === 'plan' && (options.dryRun || options.diff)) {
      out(event.changes.map((change) => changeLines(change, options.diff, outColours)).join(''));
    } else if (event.type === 'finished') {
      out(`${conclusion(host, event, outColours)}\n`);
    } else {
      const line = progressLine(host, event, errColours);
      if (line !== null) err(`${line}\n`);
    }
  };
}

/** What is said while a run goes on; null for what says nothing to a person. */
function progressLine(host: string, event: ProvisionEvent, colours: Colours): string | null {
  switch (event.type) {
    case 'started':
      return colours.bold(`watertight ${printable(event.version)}: ${host}`);
    case 'progress':
      return colours.dim(`  … ${printable(event.text)}`);
    case 'plan':
      return event.changes.length === 0 ? '  nothing to change' : `  ${count(event.changes.length)} to make`;
    case 'step':
      return stepLine(event, colours);
    case 'prerequisite':
      return event.presence === 'present'
        ? null
        : `${answer(event.presence, colours)} ${printable(event.id)}: ${printable(event.reason)}${fixed(event.fix)}`;
    case 'claim':
      return `${answer(event.verdict, colours)} ${printable(event.tenant)} ${printable(event.id)}: ${printable(
        event.verdict === 'proven' ? event.claim : event.reason,
      )}`;
    case 'confirm':
      return colours.dim('  … waiting for the confirmation that you still get in');
    case 'rollback':
      return colours.yellow(`  taking back what was begun: ${printable(event.reason)}`);
    case 'failure':
      return `${colours.red('  failed:')} ${printable(event.reason)}${fixed(event.fix)}`;
    case 'ledger':
    case 'finished':
      return null;
  }
}

function stepLine(event: Extract<ProvisionEvent, { type: 'step' }>, colours: Colours): string | null {
  const summary = printable(event.summary);
  switch (event.state) {
    case 'started':
      return null;
    case 'done':
      return `${colours.green('  done:')} ${summary}`;
    case 'failed':
      return `${colours.red('  failed:')} ${summary}: ${printable(event.detail)}`;
  }
}

function answer(word: string, colours: Colours): string {
  if (word === 'proven' || word === 'present') return colours.green(`  ${word}:`);
  return word === 'disproved' || word === 'absent' ? colours.red(`  ${word}:`) : colours.yellow(`  ${word}:`);
}

function fixed(fix: string | null): string {
  return fix === null ? '' : `\n    fix: ${printable(fix)}`;
}

function changeLines({ summary, diff }: PlannedChange, withDiff: boolean, colours: Colours): string {
  const lines = [`- ${printable(summary)}`];
  if (withDiff && diff !== null)
    lines.push(
      ...printableLines(diff.trimEnd())
        .split('\n')
        .map((line) => `    ${paint(line, colours)}`),
    );
  return `${lines.join('\n')}\n`;
}

function paint(line: string, colours: Colours): string {
  if (line.startsWith('+')) return colours.green(line);
  return line.startsWith('-') ? colours.red(line) : line;
}

const RESULTS: Readonly<Record<ProvisionResult, string>> = {
  converged: 'is contained, every claim proven',
  planned: 'was not touched: this is what would be done',
  removed: 'holds nothing of ours any more',
  'rolled-back': 'is as it was before this run',
  'rolled-back-in-part': 'is as it was before this run',
  'rollback-incomplete': 'is in between: run provision again',
  untouched: 'was not touched',
  unknown: 'was left in a state that could not be told: run provision again',
};

type Finished = Extract<ProvisionEvent, { type: 'finished' }>;

function conclusion(host: string, event: Finished, colours: Colours): string {
  const seconds = (event.durationMs / 1000).toFixed(1);
  const became = RESULTS[event.result] ?? 'has an unknown result';
  const sentence = `${host} ${became}${extent(event)} (${seconds} s)${staying(host, event)}`;
  if (event.exit === EXIT.yes) return colours.green(sentence);
  return event.exit === EXIT.no ? colours.red(sentence) : colours.yellow(sentence);
}

function extent({ changes, takenBack, result }: Finished): string {
  if (takenBack === undefined) return `: ${count(changes)}`;
  const takenCount = `${count(takenBack.changes)} taken back`;
  const { length } = takenBack.kept;
  if (length === 0 || result === 'rollback-incomplete') return `: ${takenCount}`;
  return ` but for what stays: ${takenCount}, ${length} not`;
}

/** What was not taken back, a line each, and the command that completes it. */
function staying(host: string, { takenBack, result }: Finished): string {
  const lines = (takenBack?.kept ?? []).map((words) => `\n  stays: ${printable(words)}`);
  const completes = result === 'rolled-back-in-part' ? `\n  complete it: watertight provision ${host}` : '';
  return `${lines.join('')}${completes}`;
}

function count(changes: number): string {
  return changes === 1 ? '1 change' : `${changes} changes`;
}
