import { isRecord, parseJson } from '../../core/json.js';
import type { Target } from '../../core/target/target.js';
import type { ProxyLine } from '../claim.js';

const DEADLINE_MS = 5000;
const POLL_MS = 10;

/** Which of the proxy's decision lines are asked for. */
export interface LogQuestion {
  readonly unit: string;
  readonly nonces: readonly string[];
  /** Lines that are due; once there are as many the journal is not asked again. */
  readonly expected: number;
  /** Milliseconds since the epoch: earlier lines are left out. */
  readonly since: number;
  /** How long to wait for lines that are not there yet: the journal is written beside the answer, not before it. */
  readonly waitMs: number;
}

/**
 * Decision lines whose host holds one of the nonces; null where the journal could not be read. The journal is read anew
 * rather than followed: what is in it can be read at once, and followers are told of it up to a quarter of a second
 * later (systemd, POST_CHANGE_TIMER_INTERVAL_USEC).
 */
export async function readProxyLog(local: Target, question: LogQuestion): Promise<readonly ProxyLine[] | null> {
  const end = Date.now() + question.waitMs;
  for (;;) {
    const lines = await readOnce(local, question);
    if (lines === null || lines.length >= question.expected || Date.now() >= end) return lines;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function readOnce(local: Target, { unit, nonces, since }: LogQuestion): Promise<readonly ProxyLine[] | null> {
  const from = `--since=@${(since / 1000).toFixed(3)}`;
  const command = ['journalctl', '--quiet', '--output=cat', from, `--unit=${unit}`] as const;
  const { outcome, stdout } = await local.exec({ command, deadlineMs: DEADLINE_MS });
  if (outcome.kind !== 'exited' || outcome.status !== 0) return null;
  const lines = stdout.toString('utf8').split('\n');
  return lines
    .flatMap((text) => parseDecision(text) ?? [])
    .filter(({ host }) => nonces.some((nonce) => host.startsWith(`${nonce}.`)));
}

/** One decision line of the proxy's (docs/egress-proxy.md); null for anything else that is in the journal. */
export function parseDecision(text: string): ProxyLine | null {
  const value = parseJson(text);
  if (!isRecord(value) || value.event !== 'decision') return null;
  const { host, verdict, reason } = value;
  if (typeof host !== 'string' || typeof verdict !== 'string' || typeof reason !== 'string') return null;
  return { host, verdict, reason };
}
