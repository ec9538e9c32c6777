import { PATHS, sudoersPath, TENANT_NAME, UNIX_USER } from './names.js';
import type { ProfileFile, TenantProfile } from './profile.js';

/**
 * Lets each runtime of a tenant launch confined work for it, and nothing else. The tail `*` is the command, which the
 * launcher runs as the tenant's own user inside its slice. env_reset is said again here because a host may have turned
 * it off, and the environment of a root process must not be the caller's. Null: nobody may launch.
 *
 * @throws Error where a name is not what the configuration lets through: the last door before root.
 */
export function renderSudoers({ name, runtimes }: TenantProfile): ProfileFile | null {
  if (!TENANT_NAME.test(name) || !runtimes.every((user) => UNIX_USER.test(user))) {
    throw new Error('a tenant or runtime name that was not validated reached sudoers');
  }
  if (runtimes.length === 0) return null;
  const content = [
    '# Written by watertight. Changes here are undone by the next provision.',
    `Defaults!${PATHS.command} env_reset, !setenv`,
    ...runtimes.map((user) => `${user} ALL=(root) NOPASSWD: ${PATHS.command} run --tenant ${name} -- *`),
    '',
  ].join('\n');
  return { path: sudoersPath(name), content, mode: 0o440, owner: 'root', group: 'root', check: ['visudo', '-cf'] };
}
