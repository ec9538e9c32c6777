import type { Target } from '../../core/target/target.js';
import type { ProxyLine } from '../claim.js';
import { isRecord, parseJson } from './child-lines.js';

const LIFE_MS = 120_000;
const POLL_MS = 5;

/** The decision lines that the proxy writes while a run lasts. */
export interface ProxyLog {
  /**
   * Lines whose host holds one of the nonces, once there are as many as expected or the time is over; null where the
   * journal could not be read.
   */
  linesFor(nonces: readonly string[], expected: number, waitMs: number): Promise<readonly ProxyLine[] | null>;
  close(): Promise<void>;
}

/**
 * Follows the journal of the proxy's unit.
 * @param since seconds since the epoch: earlier lines are left out
 */
export function followProxyLog(local: Target, unit: string, since: number): ProxyLog {
  const lines: ProxyLine[] = [];
  const stop = new AbortController();
  let failed = false;
  const command = ['journalctl', '-f', '-o', 'cat', '-n', 'all', `--since=@${since}`, '-u', unit] as const;
  const onLine = (text: string) => {
    const line = parseDecision(text);
    if (line) lines.push(line);
  };
  const over = local.exec({ command, deadlineMs: LIFE_MS, onLine, signal: stop.signal }).then(() => {
    failed = !stop.signal.aborted;
  });
  return {
    async linesFor(nonces, expected, waitMs) {
      const ours = () => lines.filter(({ host }) => nonces.some((nonce) => host.startsWith(`${nonce}.`)));
      for (let waited = 0; waited < waitMs && ours().length < expected && !failed; waited += POLL_MS) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      return failed ? null : ours();
    },
    async close() {
      stop.abort();
      await over;
    },
  };
}

/** One decision line of the proxy's (docs/configuration.md); null for anything else that is in the journal. */
export function parseDecision(text: string): ProxyLine | null {
  const value = parseJson(text);
  if (!isRecord(value) || value.event !== 'decision') return null;
  const { host, verdict, reason } = value;
  if (typeof host !== 'string' || typeof verdict !== 'string' || typeof reason !== 'string') return null;
  return { host, verdict, reason };
}
