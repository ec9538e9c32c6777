import { printableJson } from '../printable.js';

const LONGEST = 80;

/** A value of the file as one short, harmless line: JSON, shortened. */
export function shown(value: unknown): string {
  const text = printableJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
