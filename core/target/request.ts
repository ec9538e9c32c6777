import { quote } from './quote.js';
import type { ExecRequest } from './target.js';

/** Bytes kept of each stream where the request does not say. */
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why a request cannot be passed on to a process at all; null where it can. */
export function requestProblem(request: ExecRequest): string | null {
  const program = request.command[0];
  if (program === '') return 'the program has no name';
  // exec and command of a POSIX shell would read it as an option, and dash's exec knows no `--`.
  if (program.startsWith('-')) return `a program cannot be called ${program}`;
  const variables = Object.entries(request.environment ?? {});
  const bad = variables.find(([name]) => !VARIABLE_NAME.test(name));
  if (bad !== undefined) return `${JSON.stringify(bad[0])} is not the name of a variable`;
  if (!Number.isFinite(request.deadlineMs) || request.deadlineMs <= 0)
    return `a deadline of ${request.deadlineMs} ms is none`;
  try {
    quote([...request.command, ...variables.map(([, value]) => value)]);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
  return null;
}
