import { constants } from 'node:os';

type Hook = () => void | Promise<void>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A hook that hangs must not keep a person who pressed Ctrl-C waiting. */
const DEADLINE_MS = 10_000;

const hooks = new Set<Hook>();
let ending = false;

/** Runs every hook once, last registered first; a hook that throws does not stop the others. */
export async function runCleanups(): Promise<void> {
  const pending = [...hooks].reverse();
  hooks.clear();
  for (const hook of pending) {
    try {
      await hook();
    } catch {
      // Nothing is left to do for it, and the others still have to run.
    }
  }
}

async function endBy(signal: NodeJS.Signals): Promise<void> {
  const status = 128 + constants.signals[signal];
  // A second signal, or a hook that hangs: end at once.
  if (ending) process.exit(status);
  ending = true;
  setTimeout(() => process.exit(status), DEADLINE_MS).unref();
  await runCleanups();
  process.exit(status);
}

/**
 * Registers what has to happen when a signal ends this program (close a connection, release a lock). Signals are taken
 * over only while a hook stands, so that a program which handles them itself is left alone.
 * @returns takes the hook away again, without running it
 */
export function onCleanup(hook: Hook): () => void {
  if (hooks.size === 0) for (const signal of SIGNALS) process.on(signal, endBy);
  hooks.add(hook);
  return () => {
    hooks.delete(hook);
    if (hooks.size === 0 && !ending) for (const signal of SIGNALS) process.off(signal, endBy);
  };
}
