import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between SIGTERM and SIGKILL. */
const PATIENCE_MS = 1000;
const POLL_MS = 20;

/** Groups that would outlive this process: they have no terminal that could interrupt them. */
const living = new Set<number>();

process.on('exit', () => {
  for (const group of living) signalGroup(group, 'SIGKILL');
});

/** Remembers a group, to be ended with this process. */
export function adopt(group: number): void {
  living.add(group);
}

/** The group has ended by itself, or is none of ours any more. */
export function release(group: number): void {
  living.delete(group);
}

/**
 * Ends a process group of this machine: SIGTERM, and SIGKILL a second later to what is left. Resolves when no member
 * is left, or when that is out of this user's hands.
 */
export async function endGroup(group: number): Promise<void> {
  let left = signalGroup(group, 'SIGTERM');
  for (let waited = 0; left && waited < PATIENCE_MS; waited += POLL_MS) {
    await sleep(POLL_MS);
    left = signalGroup(group, 0);
  }
  if (left) signalGroup(group, 'SIGKILL');
}

/** True where a member of the group could be signalled. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: nobody is left. EPERM: whoever is left belongs to another user.
    return false;
  }
}
