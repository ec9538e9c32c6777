import { PassThrough } from 'node:stream';
import holdScript from '../../core/hold-lock.sh';
import { describeOutcome } from '../../core/target/describe.js';
import type { Target } from '../../core/target/target.js';
import { PATHS } from '../../profiles/names.js';

const HOUR_MS = 3_600_000;
const WAIT_SECONDS = 120;

export type RemoteLock =
  | { readonly kind: 'locked'; release(): Promise<void> }
  | { readonly kind: 'refused'; readonly reason: string };

/** Takes a host's lock from outside: one provision, deprovision or verify at a time. Waits two minutes for it. */
export async function lockHost(target: Target, who: string): Promise<RemoteLock> {
  const input = new PassThrough();
  let onLocked: () => void = () => {};
  const locked = new Promise<null>((resolve) => {
    onLocked = () => resolve(null);
  });
  const holding = target.exec({
    command: ['/bin/sh', '-c', holdScript, 'watertight-lock', PATHS.lock, who, String(WAIT_SECONDS)],
    input,
    deadlineMs: HOUR_MS,
    become: true,
    onLine: (line) => {
      if (line === 'locked') onLocked();
    },
  });
  const ended = await Promise.race([locked, holding]);
  if (ended === null) {
    return {
      kind: 'locked',
      release: async () => {
        input.end();
        await holding;
      },
    };
  }
  const { outcome } = ended;
  const isHeld = outcome.kind === 'exited' && outcome.status === 75;
  return { kind: 'refused', reason: isHeld ? 'another run holds the lock of the host' : describeOutcome(outcome) };
}
