import { isRecord, parseJson } from '../../core/json.js';
import type { Target } from '../../core/target/target.js';
import { COUNTER_KINDS, type CounterKind, counterName, TABLE } from '../../profiles/names.js';
import type { CounterReading } from '../claim.js';

const DEADLINE_MS = 5000;

/** Packets that each named counter of the table has counted since it was loaded. */
export type Counters =
  | { readonly kind: 'read'; readonly packets: ReadonlyMap<string, number> }
  | { readonly kind: 'absent'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reads every named counter in one call, as JSON: the one thing that nft 1.0.6 says fully in it. */
export async function readCounters(local: Target): Promise<Counters> {
  const command = ['nft', '-j', 'list', 'counters', 'table', 'inet', TABLE] as const;
  const result = await local.exec({ command, deadlineMs: DEADLINE_MS });
  const { outcome } = result;
  if (outcome.kind === 'timed-out')
    return { kind: 'unknown', reason: `nft gave no answer within ${DEADLINE_MS / 1000} s` };
  if (outcome.kind !== 'exited') return { kind: 'unknown', reason: `nft could not be run (${outcome.kind})` };
  if (outcome.status !== 0) {
    const said = result.stderr.toString('utf8').split('\n')[0] ?? '';
    if (said.includes('No such file or directory'))
      return { kind: 'absent', reason: `the table inet ${TABLE} is not loaded` };
    return { kind: 'unknown', reason: `nft failed: ${said || `status ${outcome.status}`}` };
  }
  return parseCounters(result.stdout.toString('utf8'));
}

/** Reads nft's JSON (libnftables-json(5)). What is not of that form is unknown, not empty. */
export function parseCounters(text: string): Counters {
  const document = parseJson(text);
  if (!isRecord(document) || !Array.isArray(document.nftables)) {
    return { kind: 'unknown', reason: 'nft printed something that is not its JSON' };
  }
  const packets = new Map<string, number>();
  for (const entry of document.nftables) {
    if (!isRecord(entry) || !isRecord(entry.counter)) continue;
    const { name, packets: count, table } = entry.counter;
    if (table !== TABLE || typeof name !== 'string' || !Number.isSafeInteger(count)) continue;
    packets.set(name, count as number);
  }
  return { kind: 'read', packets };
}

/** How far a tenant's counters moved from one reading to the next. A counter that is missing is left out. */
export function countersMoved(before: Counters, after: Counters, tenant: string): CounterReading {
  if (before.kind !== 'read') return before;
  if (after.kind !== 'read') return after;
  const moved: Partial<Record<CounterKind, number>> = {};
  for (const kind of COUNTER_KINDS) {
    const [from, to] = [before.packets.get(counterName(tenant, kind)), after.packets.get(counterName(tenant, kind))];
    if (from === undefined || to === undefined) continue;
    if (to < from) return { kind: 'unknown', reason: `the counter ${counterName(tenant, kind)} was reset meanwhile` };
    moved[kind] = to - from;
  }
  return { kind: 'read', moved };
}
