import type { YAMLError } from 'yaml';
import { printable } from '../printable.js';

/** What is wrong with the YAML itself, for somebody who writes a configuration and not a YAML reader. */
export interface YamlMistake {
  /** Completes "expected …". */
  readonly expected: string;
  /** Whether the word at the place of the mistake is the bad one; else it is where the lack was noticed. */
  readonly showsWord: boolean;
}

const lacks = (expected: string): YamlMistake => ({ expected, showsWord: false });
const has = (expected: string): YamlMistake => ({ expected, showsWord: true });

/** By what the library says: its code and its message. */
const MISTAKES: readonly (readonly [RegExp, YamlMistake])[] = [
  [/^DUPLICATE_KEY/, has('each key once in a mapping')],
  [/Flow sequence .*must .*end with/, lacks('the closing ] of a list that begins before this place')],
  [/Flow map .*must .*end with/, lacks('the closing } of a mapping that begins before this place')],
  [/Missing closing "quote/, lacks('the closing " of a text that begins before this place')],
  [/Missing closing 'quote/, lacks("the closing ' of a text that begins before this place")],
  [/All mapping items must start/, lacks('each key of a mapping at the same column')],
  [
    /All sequence items must start|A block sequence may not|Unexpected seq-item-ind/,
    lacks('each - of a list at the same column'),
  ],
  [/^TAB_AS_INDENT/, lacks('blanks before the first word of a line, not a tab')],
  [/^BLOCK_AS_IMPLICIT_KEY/, has('one "key: value" a line; a value with ": " in it stands in quotes')],
  [/^MULTILINE_IMPLICIT_KEY/, has('"key: value" with a blank after the colon')],
  [/^BAD_SCALAR_START/, has('a value in quotes, since YAML keeps its first character for itself')],
  [/^MULTIPLE_DOCS/, has('one document')],
];

/** Reads an error or a warning of the library. What the table does not know keeps the library's own words. */
export function yamlMistake({ code, message }: YAMLError): YamlMistake {
  const known = MISTAKES.find(([shape]) => shape.test(`${code}: ${message}`));
  return known?.[1] ?? has(`valid YAML (${printable(message)})`);
}
