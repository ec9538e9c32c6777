import end from './end.sh';
import { withoutComments } from './stages.js';
import type { ExecRequest } from './target.js';

const END = withoutComments(end);

/** Longer than end.sh takes (a second of patience), and short: on a frozen host nobody answers. */
const DEADLINE_MS = 2500;

/** The request that ends a staged run's process group, as the user who owns it. */
export function endRequest(group: number, nonce: string, become: boolean): ExecRequest {
  return {
    command: ['/bin/sh', '-c', END, 'watertight', String(group), nonce],
    become,
    deadlineMs: DEADLINE_MS,
  };
}
