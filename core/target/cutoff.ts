import type { ExecOutcome, ExecRequest } from './target.js';

/** setTimeout takes 31 bits of milliseconds (HTML standard, timers); more would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What may end a run before its program does: the deadline, the caller, or too much output. The first one counts. */
export class Cutoff {
  /** Resolves when the run is to be cut off. May never. */
  readonly reached: Promise<ExecOutcome>;
  #reach: (outcome: ExecOutcome) => void = () => {};
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel = () => this.#reach({ kind: 'cancelled' });

  /** The deadline begins to run now. */
  constructor(request: Pick<ExecRequest, 'deadlineMs' | 'signal'>) {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    const afterMs = request.deadlineMs;
    this.#timer = setTimeout(() => this.#reach({ kind: 'timed-out', afterMs }), Math.min(afterMs, LONGEST_TIMER_MS));
    this.#signal = request.signal;
    if (this.#signal?.aborted) this.#cancel();
    this.#signal?.addEventListener('abort', this.#cancel, { once: true });
  }

  /** Cuts the run off for this reason, unless another came first. */
  reach(outcome: ExecOutcome): void {
    this.#reach(outcome);
  }

  /** Lets go of the timer and of the caller's signal. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#cancel);
  }
}
