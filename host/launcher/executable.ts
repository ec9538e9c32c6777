import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/** Where a bare program name is looked for: the PATH that confined work itself has. */
const CONFINED_PATH = ['/usr/local/bin', '/usr/bin', '/bin'] as const;

export type Executable =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'not-executable'; readonly path: string };

/** Finds a program as a shell would, without one: an absolute path as it is, a bare name on the confined PATH. */
export async function findExecutable(program: string): Promise<Executable> {
  if (program === '' || (!isAbsolute(program) && program.includes('/'))) return { kind: 'not-found' };
  const candidates = isAbsolute(program) ? [program] : CONFINED_PATH.map((folder) => join(folder, program));
  let present: string | null = null;
  for (const path of candidates) {
    if (!(await isFile(path))) continue;
    if (await mayExecute(path)) return { kind: 'found', path };
    present ??= path;
  }
  return present === null ? { kind: 'not-found' } : { kind: 'not-executable', path: present };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function mayExecute(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return ((await stat(path)).mode & 0o111) !== 0; // root may "execute" anything by access(2) alone
  } catch {
    return false;
  }
}
