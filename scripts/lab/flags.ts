import { InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LAB } from '../../lab/names.js';

export interface LabFlag {
  readonly lab: string;
}

/** Progress goes to standard error: standard output is for what a script would read. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** `--lab`, the same for each command. */
export function labFlag(): Option {
  return new Option('--lab <name>', 'which lab').default(DEFAULT_LAB);
}

/** Reads a whole number. @throws commander's own error for anything else */
export function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

/** Once options pass through, commander leaves the `--` before a command in its place. */
export function withoutDashes(words: readonly string[]): readonly string[] {
  return words[0] === '--' ? words.slice(1) : words;
}
