import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Undoing } from '../../profiles/resources/rollback.js';

/**
 * What has to be taken back, noted before each change and kept until the run is committed. A run that was killed leaves
 * it behind; the next one adds to it, so that both are taken back together.
 */
export class Journal {
  readonly #path: string;

  constructor(readonly directory: string) {
    this.#path = join(directory, 'journal');
  }

  /** On disk when this returns. */
  note(undoing: Undoing): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const file = openSync(this.#path, 'a', 0o600);
    try {
      // A line of a run that was cut off may have no end: this one begins on a line of its own.
      writeSync(file, `\n${JSON.stringify(undoing, encodeBuffer)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    syncDirectory(dirname(this.#path));
  }

  /** In the order in which they were noted. A line that was cut off describes a change that was never begun. */
  read(): readonly Undoing[] {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return text.split('\n').flatMap(readEntry);
  }

  /** Commits: nothing is to be taken back any more. */
  clear(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** JSON.stringify has called Buffer's own toJSON by the time a replacer sees it. */
function encodeBuffer(_key: string, value: unknown): unknown {
  if (!isBufferJson(value)) return value;
  return { base64: Buffer.from(value.data).toString('base64') };
}

function isBufferJson(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value;
}

/** Root alone writes the journal (0600 in a 0700 directory), so its shape is trusted; its buffers come back as buffers. */
function readEntry(line: string): readonly Undoing[] {
  try {
    if (line === '') return [];
    const entry = JSON.parse(line, decodeBuffer) as Undoing;
    // Builds before 0.1.0 noted nothing of what stays.
    return [{ ...entry, kept: entry.kept ?? [] }];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function decodeBuffer(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('base64' in value)) return value;
  return Buffer.from(String(value.base64), 'base64');
}
