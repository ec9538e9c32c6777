import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseJson } from '../../core/json.js';

/** What the controller says to a run on the host, over the run's standard input. */
export interface ControllerChannel {
  /** The profile: the first line, as JSON. Null where the controller was gone before it came. */
  readonly profile: Promise<unknown>;
  /** Aborted when the controller closes its end before it has committed: it is gone, or it wants everything taken back. */
  readonly gone: AbortSignal;
  /** True when `commit` comes within so many milliseconds; false otherwise. */
  confirmed(withinMs: number): Promise<boolean>;
  close(): void;
}

/** Line one is the profile; later the word `commit`. */
export function listenToController(input: Readable): ControllerChannel {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const gone = new AbortController();
  let onProfile: (profile: unknown) => void = () => {};
  let onCommit: () => void = () => {};
  const profile = new Promise<unknown>((resolve) => {
    onProfile = resolve;
  });
  const committed = new Promise<void>((resolve) => {
    onCommit = resolve;
  });
  let first = true;
  lines.on('line', (line) => {
    if (first) onProfile(parseJson(line));
    else if (line === 'commit') onCommit();
    first = false;
  });
  lines.on('close', () => {
    onProfile(null);
    gone.abort();
  });
  input.on('error', () => lines.close());
  return {
    profile,
    gone: gone.signal,
    confirmed: (withinMs) => within(committed, withinMs, gone.signal),
    close: () => {
      lines.close();
      input.destroy();
    },
  };
}

async function within(committed: Promise<void>, ms: number, gone: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const refused = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
    // The word and the end of input may arrive together: the word, which was first, has its say first.
    if (gone.aborted) setImmediate(() => resolve(false));
    else gone.addEventListener('abort', () => setImmediate(() => resolve(false)), { once: true });
  });
  try {
    return await Promise.race([committed.then(() => true), refused]);
  } finally {
    clearTimeout(timer);
  }
}
