import { type Alias, type Document, isAlias, isMap, isNode, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { ConfigurationProblem } from '../failure.js';
import { shown } from './shown.js';
import { yamlMistake } from './yaml-mistake.js';

/** Steps from the root of a document: keys of mappings, indexes of sequences. */
export type DocumentPath = readonly (string | number)[];

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A YAML file, read: its plain data, and where in the text each part of it stands. */
export interface ConfigurationDocument {
  readonly data: unknown;
  /** Place of a value, or of the key that leads to it; of the nearest part around it where it is not there. */
  locate(path: DocumentPath, part: 'key' | 'value'): Place;
  /** What is wrong with the YAML itself. Unless all are duplicate keys, `data` is not to be trusted. */
  readonly problems: readonly ConfigurationProblem[];
  readonly usable: boolean;
}

/** Aliases may make a document as large as this; more is an attack (a billion laughs) or a mistake. */
const MAX_ALIASES = 100;

/** Reads YAML 1.2. Never throws: what is wrong is in `problems`. `file` is only named. */
export function readDocument(text: string, file: string): ConfigurationDocument {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  });
  const placeOf = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problemAt = (offset: number, value: string, expected: string): ConfigurationProblem => {
    return { file, ...placeOf(offset), path: '', value, expected };
  };
  const broken = document.errors.find((error) => error.code !== 'DUPLICATE_KEY');
  // After the first syntax error the rest is mostly its echo.
  const errors = broken ? [broken] : [...document.errors, ...document.warnings];
  const problems = errors.map((error) => {
    const [offset] = error.pos;
    const { expected, showsWord } = yamlMistake(error);
    return problemAt(offset, showsWord ? wordAt(text, offset) : '', expected);
  });
  const usable = broken === undefined;
  const data = usable ? plainData(document) : { bomb: null };
  if (data.bomb) {
    const { range, source } = data.bomb;
    problems.push(problemAt(range?.[0] ?? 0, shown(`*${source}`), 'no more than a few aliases'));
  }
  return {
    data: data.value,
    locate: (path, part) => placeOf(offsetOf(document, path, part)),
    problems,
    usable: usable && !data.bomb,
  };
}

function plainData(document: Document): { readonly value?: unknown; readonly bomb: Alias | null } {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    // An alias to what it stands in makes a circle, which nothing could print.
    JSON.stringify(value);
    return { value, bomb: null };
  } catch (error) {
    let first: Alias | null = null;
    visit(document, {
      Alias: (_key, alias) => {
        first = alias;
        return visit.BREAK;
      },
    });
    if (first === null) throw error;
    return { bomb: first };
  }
}

/** The word of the text that begins at an offset, for messages; empty where there is none. */
function wordAt(text: string, offset: number): string {
  const word = /^(?:"[^"\n]*"|'[^'\n]*'|[^\n:,#]*)/.exec(text.slice(offset, offset + 200))?.[0].trim() ?? '';
  return word === '' ? '' : shown(word);
}

function offsetOf(document: Document, path: DocumentPath, part: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      // Aliases and duplicates: the last one is the one whose value counts.
      const pair = node.items.findLast(({ key }) => String(isNode(key) ? key.toJS(document) : key) === String(step));
      if (!pair) break;
      node = part === 'key' && index === path.length - 1 ? pair.key : (pair.value ?? pair.key);
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
    } else break;
    offset = startOf(node) ?? offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
