import { existsSync, rmdirSync, rmSync } from 'node:fs';

/** Places of ours on a host. */
export interface Places {
  /** While one of them is there, the host holds something of ours. */
  readonly signs: readonly string[];
  /** Goes where it is empty: it may hold the note of packages that stay. */
  readonly state: string;
  /** Goes whole, the lock included: whoever waits for that sees that it is gone, and takes the next one. */
  readonly run: string;
}

/** Takes away what a run itself has left on a host that holds nothing else of ours. The caller holds the lock. */
export function leaveNoTrace({ signs, state, run }: Places): void {
  if (signs.some((path) => existsSync(path))) return;
  rmSync(run, { recursive: true, force: true });
  try {
    rmdirSync(state);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT') throw error;
  }
}
