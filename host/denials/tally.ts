import { isRecord, parseJson } from '../../core/json.js';
import { RESERVED_DOMAIN } from '../../profiles/allow-pattern.js';
import { REASONS, type Reason } from '../egress-proxy/reasons.js';
import { type Remedy, remedyFor } from './remedy.js';

/** One target that was denied, for one reason. */
export interface Denial {
  readonly host: string;
  readonly port: number;
  readonly reason: Reason;
  /** False in report mode, where it was let through. */
  readonly denied: boolean;
  readonly times: number;
  /** ISO 8601, UTC. */
  readonly first: string;
  readonly last: string;
  readonly remedy: Remedy;
}

/** Counts denials, one line of the proxy's journal after the other. */
export interface DenialTally {
  readonly add: (line: string) => void;
  /** The most frequent first. */
  readonly denials: () => readonly Denial[];
  /** Denials of targets beyond the number that is kept apart. */
  readonly others: () => number;
}

/** Confined work may ask for names without end: so many are kept apart. */
const MAX_KINDS = 10_000;

interface Seen extends Omit<Denial, 'remedy' | 'denied' | 'times' | 'last'> {
  readonly rule: string;
  times: number;
  last: string;
}

export function denialTally(maxKinds = MAX_KINDS): DenialTally {
  const kinds = new Map<string, Seen>();
  let others = 0;
  return {
    add: (line) => {
      const denial = readDenial(line);
      if (denial === null) return;
      const key = JSON.stringify([denial.host, denial.port, denial.reason]);
      const seen = kinds.get(key);
      if (seen !== undefined) {
        seen.times += 1;
        seen.last = denial.last;
      } else if (kinds.size < maxKinds) kinds.set(key, denial);
      else others += 1;
    },
    denials: () => [...kinds.values()].map(shown).sort((a, b) => b.times - a.times || (a.host < b.host ? -1 : 1)),
    others: () => others,
  };
}

function shown({ rule, ...seen }: Seen): Denial {
  return { ...seen, denied: REASONS[seen.reason].verdict === 'deny', remedy: remedyFor({ ...seen, rule }) };
}

/** A denial, or what report mode let through; null for any other line, and for verification's own attempts. */
function readDenial(line: string): Seen | null {
  // Most lines of a busy proxy are allowed ones: not worth parsing.
  if (!line.includes('"verdict":"deny"') && !line.includes('"reason":"report-')) return null;
  const value = parseJson(line);
  if (!isRecord(value) || value.event !== 'decision') return null;
  const { host, port, reason, rule, time } = value;
  if (typeof host !== 'string' || typeof port !== 'number' || typeof rule !== 'string') return null;
  if (typeof time !== 'string' || !isReason(reason)) return null;
  if (host === RESERVED_DOMAIN || host.endsWith(`.${RESERVED_DOMAIN}`)) return null;
  return { host, port, reason, rule, times: 1, first: time, last: time };
}

function isReason(value: unknown): value is Reason {
  return typeof value === 'string' && Object.hasOwn(REASONS, value);
}
