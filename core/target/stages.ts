import login from './login.sh';
import run from './run.sh';
import start from './start.sh';
import type { ExecRequest } from './target.js';

/** Seconds that the remote deadline comes after the caller's: the caller ends a group more thoroughly, while it can. */
const GRACE_SECONDS = 2;

/** A script without its comments: it travels as an argument and shows in process lists. */
export function withoutComments(script: string): string {
  return script.replace(/^\s*#.*\n/gm, '');
}

const STAGES = { login: withoutComments(login), run: withoutComments(run), start: withoutComments(start) };

/**
 * The argument list that runs a request in three stages (login.sh, run.sh, start.sh): each says by a marker how far it
 * came, the last is the program itself, in a process group with a deadline of its own.
 */
export function staged(request: ExecRequest, nonce: string): [string, ...string[]] {
  const variables = Object.entries(request.environment ?? {}).map(([name, value]) => `${name}=${value}`);
  const become = request.become === true ? 'sudo' : 'no';
  const seconds = String(Math.ceil(request.deadlineMs / 1000) + GRACE_SECONDS);
  const parameters = [nonce, become, seconds, STAGES.run, STAGES.start];
  return ['/bin/sh', '-c', STAGES.login, 'watertight', ...parameters, ...variables, '--', ...request.command];
}
