import { readFileSync } from 'node:fs';

/** Descriptors that this process may hold (RLIMIT_NOFILE, getrlimit(2)); null where that cannot be told. */
export function descriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === '' ? null : Number(soft);
  } catch {
    return null;
  }
}

/** For listeners, the log, name lookups on 32 threads, and connections that are only told to come back later. */
const RESERVED = 192;

/** How connections share the descriptors there are. */
export interface DescriptorShare {
  /** Connections that can be served. */
  readonly served: number;
  /** Connections beyond them that can be answered at once. */
  readonly answered: number;
}

/**
 * Where descriptors run out, accept(2) fails and the event loop's library closes connections without a word (libuv,
 * uv__emfile_trick). So some are held back: two a served connection, and the rest answers those that are too many.
 */
export function shareDescriptors(limit: number | null): DescriptorShare {
  if (limit === null) return { served: Number.POSITIVE_INFINITY, answered: RESERVED / 3 };
  const reserved = Math.min(RESERVED, Math.floor(limit / 2));
  return { served: Math.floor((limit - reserved) / 2), answered: Math.floor(reserved / 3) };
}
