/** Lets a number of holders in at a time; the others wait in line. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the slot back, or with null where `signal` gave up waiting. */
  async acquire(signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null;
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#wait(signal))) return null;
    let held = true;
    return () => {
      if (held) this.#giveBack();
      held = false;
    };
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
    });
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
