import { lookup } from 'node:dns';

/** All addresses of a name; rejects where there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: 'resolve-failed' | 'resolve-timeout' };

/** The system's resolver (getaddrinfo(3)), in its own order (RFC 6724). */
export const systemLookup: Lookup = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true, verbatim: true }, (error, answers) => {
      if (error !== null) reject(error);
      else resolve(answers.map((answer) => answer.address));
    });
  });

/** Resolves a name within a deadline in ms. getaddrinfo cannot be cancelled: a late answer is dropped. */
export function resolveWithin(find: Lookup, name: string, deadlineMs: number): Promise<Resolved> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ ok: false, reason: 'resolve-timeout' }), deadlineMs);
    const settle = (result: Resolved): void => {
      clearTimeout(timer);
      resolve(result);
    };
    find(name).then(
      (addresses) => settle(addresses.length > 0 ? { ok: true, addresses } : { ok: false, reason: 'resolve-failed' }),
      () => settle({ ok: false, reason: 'resolve-failed' }),
    );
  });
}
