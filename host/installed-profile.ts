import { readFile } from 'node:fs/promises';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { PATHS } from '../profiles/names.js';
import { parseHostProfile } from '../profiles/parse-host-profile.js';
import type { HostProfile } from '../profiles/profile.js';

/**
 * The profile that provision installed on this host.
 * @throws Failure where there is none (exit 1), or it cannot be read (exit 2) or is not a profile (exit 78)
 */
export async function installedProfile(): Promise<HostProfile> {
  let text: string;
  try {
    text = await readFile(PATHS.profile, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') {
      throw new Failure(
        `this host is not provisioned: ${PATHS.profile} is absent`,
        EXIT.no,
        'watertight provision HOST',
      );
    }
    throw new Failure(`cannot read ${PATHS.profile}: ${code ?? error}`, EXIT.couldNotTell, 'run it as root');
  }
  return parseHostProfile(text);
}
