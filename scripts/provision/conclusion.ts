import type { Colours } from '../../core/cli/colours.js';
import { EXIT } from '../../core/outcome.js';
import { printable } from '../../core/printable.js';
import type { ProvisionEvent, ProvisionResult } from './events.js';

type Finished = Extract<ProvisionEvent, { type: 'finished' }>;

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

/** The last sentence, with what stays of a run that was taken back. */
export function conclusion(host: string, event: Finished, colours: Colours): string {
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

/** So many changes, in words. */
export function count(changes: number): string {
  return changes === 1 ? '1 change' : `${changes} changes`;
}
