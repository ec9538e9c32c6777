import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import SSHConfig, { glob, type Line, LineType } from 'ssh-config';
import { Failure } from '../failure.js';
import { messageOf } from '../message-of.js';
import { EXIT } from '../outcome.js';

/** What OpenSSH's configuration says about one host: values by lower-case keyword. */
export interface SshConfigAnswer {
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** What was left aside. */
  readonly notes: readonly string[];
}

export type SshConfigLookup = (host: string, user?: string) => SshConfigAnswer;

/** ssh(1) follows includes to this depth. */
const MAX_DEPTH = 16;
/** Sections and keywords that run programs or ask the network while they are merely read. */
const CANONICALIZE = /^canonical/i;

/**
 * Reads OpenSSH client configuration files; the first value of a keyword wins. A file that is not there says nothing.
 * @throws Failure where a file is there and cannot be read or parsed.
 */
export function readSshConfig(files: readonly string[], home: string): SshConfigLookup {
  const notes: string[] = [];
  const lines = files.flatMap((file) => readLines(file, { home, folder: dirname(file), notes, depth: 0 }));
  const config = new SSHConfig();
  config.push(...lines);
  return (host, user) => {
    const options = { ignoreCase: true, matchExec: false };
    const computed =
      user === undefined ? config.compute(host, options) : config.compute({ Host: host, User: user }, options);
    const entries = Object.entries(computed).map(([key, value]) => [key, [value].flat()] as const);
    return { values: Object.fromEntries(entries), notes };
  };
}

function readLines(file: string, from: From): Line[] {
  if (from.depth > MAX_DEPTH) throw new Failure(`${file}: Include goes round in circles`, EXIT.configuration);
  const text = readOptional(file);
  if (text === null) return [];
  let config: SSHConfig;
  try {
    config = SSHConfig.parse(text);
  } catch (error) {
    const detail = messageOf(error);
    throw new Failure(`${file}: not a valid SSH configuration: ${detail}`, EXIT.configuration);
  }
  return [...config].flatMap((line) => acceptLine(line, { ...from, file }));
}

interface From {
  readonly home: string;
  /** Where relative includes are looked for: beside the file that ssh(1) itself reads. */
  readonly folder: string;
  readonly notes: string[];
  readonly depth: number;
}

interface Reading extends From {
  readonly file: string;
}

/** The lines that a line stands for: itself, none, or those of the files that it includes. */
function acceptLine(line: Line, reading: Reading): Line[] {
  if (line.type !== LineType.DIRECTIVE) return [];
  const keyword = line.param.toLowerCase();
  if (keyword === 'match' || CANONICALIZE.test(keyword)) {
    reading.notes.push(`${reading.file}: ${line.param} is not followed`);
    return [];
  }
  if (keyword === 'include') return included(line.value, reading);
  if ('config' in line) {
    const inner = [...line.config].filter((entry) => isFollowed(entry, reading));
    line.config.splice(0, line.config.length, ...inner);
  }
  return [line];
}

/** An Include inside a Host section would be conditional: it is said, not followed. */
function isFollowed(line: Line, reading: Reading): boolean {
  if (line.type !== LineType.DIRECTIVE) return false;
  if (!/^include$/i.test(line.param) && !CANONICALIZE.test(line.param)) return true;
  reading.notes.push(`${reading.file}: ${line.param} inside a Host section is not followed`);
  return false;
}

function included(value: string | { val: string }[], from: Reading): Line[] {
  const patterns = typeof value === 'string' ? [value] : value.map(({ val }) => val);
  return patterns.flatMap((pattern) => {
    const path = pattern.startsWith('~/') ? join(from.home, pattern.slice(2)) : pattern;
    const full = isAbsolute(path) ? path : join(from.folder, path);
    return matching(full).flatMap((file) => readLines(file, { ...from, depth: from.depth + 1 }));
  });
}

/** Files that a pattern names, in the order of their names. Only the last part may hold wildcards. */
function matching(pattern: string): string[] {
  if (!/[*?]/.test(basename(pattern))) return [pattern];
  const folder = dirname(pattern);
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith('.') && glob(basename(pattern), name));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function readOptional(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Failure(`${file} cannot be read (${String(code)})`, EXIT.configuration, `make ${file} readable`);
  }
}
