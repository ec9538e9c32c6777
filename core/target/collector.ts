const NEWLINE = 0x0a;

/** Collects one output stream as bytes, up to a limit, and calls out each complete line on the way. */
export class Collector {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #line: Buffer[] = [];
  readonly #limit: number;
  readonly #onOver: () => void;
  readonly #onLine: ((line: string) => void) | undefined;

  /** `onOver` is called when a byte beyond `limit` arrives; that byte and later ones are let go. */
  constructor(limit: number, onOver: () => void, onLine?: (line: string) => void) {
    this.#limit = limit;
    this.#onOver = onOver;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    const room = this.#limit - this.#size;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#chunks.push(kept);
    this.#size += kept.length;
    if (this.#onLine !== undefined) this.#split(kept, this.#onLine);
    if (kept.length < chunk.length) this.#onOver();
  }

  /** All bytes so far. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks, this.#size);
  }

  /** Splits at the newline byte, which is part of no longer UTF-8 sequence: so a character is never cut in two. */
  #split(chunk: Buffer, onLine: (line: string) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#line, chunk.subarray(from, at)]);
      this.#line = [];
      from = at + 1;
      onLine(line.toString('utf8'));
    }
    if (from < chunk.length) this.#line.push(chunk.subarray(from));
  }
}
