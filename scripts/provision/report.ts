import type { Colours } from '../../core/cli/colours.js';
import { printable, printableJson, printableLines } from '../../core/printable.js';
import { conclusion, count } from './conclusion.js';
import type { Emit, PlannedChange, ProvisionEvent } from './events.js';

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
