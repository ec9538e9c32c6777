import { printable } from '../printable.js';
import type { Filters } from './supervise.js';
import type { ExecOutcome, ExecRequest } from './target.js';

/** Bytes of noise kept from before the program: a login shell's greeting, or sudo's reason to refuse. */
const NOISE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** One stream up to its `begin` marker. What comes before is noise, told apart by the marker that precedes it. */
class Preamble {
  #pending = Buffer.alloc(0);
  #begun = false;
  readonly #prefix: Buffer;
  readonly #onMarker: (marker: string, noise: Buffer) => void;

  constructor(nonce: string, onMarker: (marker: string, noise: Buffer) => void) {
    this.#prefix = Buffer.from(`${nonce}:`);
    this.#onMarker = onMarker;
  }

  /** The part of the chunk that the program itself wrote. */
  filter(chunk: Buffer): Buffer {
    if (this.#begun) return chunk;
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const at = this.#pending.indexOf(this.#prefix);
      const end = at === -1 ? -1 : this.#pending.indexOf(NEWLINE, at);
      if (end === -1) break;
      const marker = this.#pending.toString('latin1', at + this.#prefix.length, end);
      this.#onMarker(marker, this.#pending.subarray(0, at));
      this.#pending = this.#pending.subarray(end + 1);
      if (marker === 'begin' || marker.startsWith('begin:')) {
        this.#begun = true;
        return this.#take();
      }
    }
    this.#pending = this.#pending.subarray(-NOISE_BYTES);
    return Buffer.alloc(0);
  }

  /** What is left where no `begin` ever came. */
  noise(): Buffer {
    return this.#pending;
  }

  #take(): Buffer {
    const rest = this.#pending;
    this.#pending = Buffer.alloc(0);
    return rest;
  }
}

/** Reads the markers of a staged run (stages.ts) and keeps them, and all that came before them, from the caller. */
export class Markers implements Filters {
  /** Process group of the program, once it has begun. */
  group: number | null = null;
  #loggedIn = false;
  #late = false;
  readonly #nonce: string;
  readonly #out: Preamble;
  readonly #error: Preamble;

  constructor(nonce: string) {
    this.#nonce = nonce;
    this.#out = new Preamble(nonce, () => {});
    this.#error = new Preamble(nonce, (marker) => this.#note(marker));
  }

  stdout(chunk: Buffer): Buffer {
    return this.#out.filter(chunk);
  }

  stderr(chunk: Buffer): Buffer {
    return this.#error.filter(chunk);
  }

  #note(marker: string): void {
    const [name, value] = marker.split(':');
    if (name === 'login') this.#loggedIn = true;
    if (name === 'late') this.#late = true;
    if (name === 'begin') this.group = Number(value);
  }

  /**
   * What the end of the staged run means for the program. An exit status by itself means nothing before the program
   * has begun: sudo's refusal is 1 as well.
   */
  interpret(request: ExecRequest, outcome: ExecOutcome, stderr: Buffer, elapsedMs: number): Interpreted {
    if (outcome.kind !== 'exited' && outcome.kind !== 'signalled') return { outcome, stderr };
    if (this.#late) return { outcome: timedOut(request), stderr };
    if (this.group === null) return { outcome: this.#notBegun(request), stderr };
    const failed = Buffer.from(`${this.#nonce}:cannot-spawn\n`);
    if (stderr.subarray(-failed.length).equals(failed)) {
      const rest = stderr.subarray(0, -failed.length);
      const detail = lastLine(rest) || `${request.command[0]} is not on the target, or cannot be executed`;
      return { outcome: { kind: 'cannot-spawn', detail: printable(detail) }, stderr: rest };
    }
    // The remote deadline comes after the caller's; it can be seen first only where this process was held up.
    if (elapsedMs >= request.deadlineMs && endedByTimeout(outcome)) return { outcome: timedOut(request), stderr };
    return { outcome, stderr };
  }

  #notBegun(request: ExecRequest): ExecOutcome {
    const said = lastLine(this.#error.noise()) || lastLine(this.#out.noise()) || 'it said nothing';
    if (!this.#loggedIn) {
      return { kind: 'cannot-spawn', detail: `the login shell did not run the command: ${printable(said)}` };
    }
    if (request.become === true) return { kind: 'become-refused', detail: printable(said) };
    return { kind: 'cannot-spawn', detail: printable(said) };
  }
}

export interface Interpreted {
  readonly outcome: ExecOutcome;
  readonly stderr: Buffer;
}

/** timeout(1) exits with 124, or dies of the SIGKILL that it sends to its own group. */
function endedByTimeout(outcome: ExecOutcome): boolean {
  if (outcome.kind === 'exited') return outcome.status === 124 || outcome.status === 137;
  return outcome.kind === 'signalled' && outcome.signal === 'SIGKILL';
}

function timedOut(request: ExecRequest): ExecOutcome {
  return { kind: 'timed-out', afterMs: request.deadlineMs };
}

/** The last line that says something. */
function lastLine(bytes: Buffer): string {
  const lines = bytes.toString('utf8').split('\n');
  return lines.map((line) => line.trim()).findLast((line) => line !== '') ?? '';
}
