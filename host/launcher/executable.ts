import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { succeeded, type Target } from '../../core/target/target.js';

const DEADLINE_MS = 5000;

/** Where a bare program name is looked for: the PATH that confined work itself has. */
const CONFINED_PATH = ['/usr/local/bin', '/usr/bin', '/bin'] as const;

export type Executable =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'not-executable'; readonly path: string };

/** Whether the tenant's user may do something with a path: test(1) with `-e` or `-x`. */
export type AsTenant = (flag: '-e' | '-x', path: string) => Promise<boolean>;

/**
 * Finds a program as a shell would, without one: an absolute path as it is, a bare name on the confined PATH. It looks
 * with the eyes of the tenant's user: the launcher is root, and would else tell its caller which files root has.
 */
export async function findExecutable(program: string, asTenant: AsTenant): Promise<Executable> {
  if (program === '' || program.includes('\0') || (!isAbsolute(program) && program.includes('/'))) {
    return { kind: 'not-found' };
  }
  const candidates = isAbsolute(program) ? [program] : CONFINED_PATH.map((folder) => join(folder, program));
  let present: string | null = null;
  for (const path of candidates) {
    if (!(await isFile(path)) || !(await asTenant('-e', path))) continue;
    if (await asTenant('-x', path)) return { kind: 'found', path };
    present ??= path;
  }
  return present === null ? { kind: 'not-found' } : { kind: 'not-executable', path: present };
}

/** Asks as a user, by setpriv(1) and test(1); what cannot be asked is a no. */
export function asUser(local: Target, user: string): AsTenant {
  return async (flag, path) => {
    const identity = ['--reuid', user, '--regid', user, '--clear-groups'];
    const command = ['setpriv', ...identity, '--', '/usr/bin/test', flag, path] as const;
    return succeeded(await local.exec({ command, deadlineMs: DEADLINE_MS }));
  };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
