import { renderHost } from './host.js';
import { PATHS } from './names.js';
import type { HostProfile, ProfileFile, RenderedHost } from './profile.js';

/** Kinds of file that a person may ask for, and how a path tells its kind. */
const KINDS = {
  nft: (path: string) => path === PATHS.ruleset,
  units: (path: string) => path.startsWith(`${PATHS.units}/`),
  policy: (path: string) => path.startsWith(`${PATHS.tenants}/`),
  sudoers: (path: string) => path.startsWith(`${PATHS.sudoers}/`),
  command: (path: string) => path === PATHS.command,
  profile: (path: string) => path === PATHS.profile,
} as const;

export type FileKind = keyof typeof KINDS;

/**
 * The part of a host that concerns one of its tenants: the files that all tenants share, as they are on this host, and
 * the tenant's own. `kind` narrows it to one kind of file.
 */
export function tenantExcerpt(profile: HostProfile, tenant: string, kind?: FileKind): RenderedHost {
  const whole = renderHost(profile);
  const own = renderHost({ ...profile, tenants: profile.tenants.filter(({ name }) => name === tenant) });
  const paths = new Set([...own.files, ...own.permissions].map(({ path }) => path));
  const wanted = ({ path }: ProfileFile) => paths.has(path) && (kind === undefined || KINDS[kind](path));
  return { ...own, files: whole.files.filter(wanted), permissions: whole.permissions.filter(wanted) };
}

/** Files as text, each under a line with its path, mode and owner. Every header is a comment to nft, sudo and systemd. */
export function fileTexts(rendered: RenderedHost): string {
  return [...rendered.files, ...rendered.permissions]
    .map(({ path, mode, owner, group, content }) => {
      return `# ${path}  ${mode.toString(8).padStart(4, '0')} ${owner}:${group}\n${content}`;
    })
    .join('\n');
}

/** What is no file, as comment lines: packages, users, units. */
export function surroundings({ packages, users, units }: RenderedHost): string {
  const active = units.map(({ name, enabled }) => (enabled ? `${name} (at boot)` : name));
  return [
    `# packages  ${packages.join(' ')}`,
    `# users     ${users.map(({ name }) => name).join(' ')}`,
    `# units     ${active.join(' ')}`,
    '',
  ].join('\n');
}
