import { PATHS } from '../names.js';
import type { RenderedHost } from '../profile.js';
import { directoriesOf } from './directory.js';

/** Notes on the host what is ours, so that what leaves the profile can be taken away, and all of it in the end. */
export const MANIFEST = `${PATHS.state}/manifest`;

/** What provision has put on a host. */
export interface Manifest {
  readonly permissions: readonly string[];
  readonly units: readonly string[];
  readonly users: readonly string[];
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/** Only what can be ours is ever taken away, whatever the note on the host has become. */
const OURS = {
  permission: /^\/etc\/sudoers\.d\/watertight-[a-z0-9-]+$/,
  unit: /^watertight[A-Za-z0-9@\\-]*\.(?:slice|service|socket|timer)$/,
  user: /^(?:watertight|wt-[a-z][a-z0-9-]*)$/,
  file: /^(?:\/usr\/sbin\/watertight|\/(?:etc|usr\/lib)\/watertight\/(?:[a-z0-9-]+\/)*[a-z0-9.-]+|\/etc\/systemd\/system\/watertight[A-Za-z0-9@\\-]*\.(?:slice|service|socket|timer))$/,
  directory: /^\/(?:etc|usr\/lib|var\/lib)\/watertight(?:\/[a-z0-9-]+)*$/,
} as const;
type Kind = keyof typeof OURS;

const EMPTY: Manifest = { permissions: [], units: [], users: [], files: [], directories: [] };

/** What a rendered profile puts on a host. */
export function manifestOf(rendered: RenderedHost): Manifest {
  const files = [...rendered.files.map(({ path }) => path), PATHS.bundle];
  const prefix = `${PATHS.units}/`;
  return {
    permissions: rendered.permissions.map(({ path }) => path),
    // A socket-activated service is named by its file alone.
    units: files.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length)),
    users: rendered.users.map(({ name }) => name),
    files,
    directories: directoriesOf([...files, MANIFEST]),
  };
}

/** Both together. */
export function union(a: Manifest, b: Manifest): Manifest {
  const both = (x: readonly string[], y: readonly string[]) => [...new Set([...x, ...y])];
  return {
    permissions: both(a.permissions, b.permissions),
    units: both(a.units, b.units),
    users: both(a.users, b.users),
    files: both(a.files, b.files),
    directories: both(a.directories, b.directories),
  };
}

/** What the first holds and the second does not. */
export function difference(a: Manifest, b: Manifest): Manifest {
  const without = (x: readonly string[], y: readonly string[]) => x.filter((name) => !y.includes(name));
  return {
    permissions: without(a.permissions, b.permissions),
    units: without(a.units, b.units),
    users: without(a.users, b.users),
    files: without(a.files, b.files),
    directories: without(a.directories, b.directories),
  };
}

/** One line an item: its kind and its name, in a fixed order, so that a shell can read it too. */
export function formatManifest(manifest: Manifest): string {
  const lines = (kind: Kind, names: readonly string[]) => [...names].sort().map((name) => `${kind} ${name}\n`);
  return [
    ...lines('permission', manifest.permissions),
    ...lines('unit', manifest.units),
    ...lines('user', manifest.users),
    ...lines('file', manifest.files),
    ...lines('directory', manifest.directories),
  ].join('');
}

/** Reads the note back; lines that cannot be ours are passed over. */
export function parseManifest(content: Buffer | null): Manifest {
  if (content === null) return EMPTY;
  const names: Record<Kind, string[]> = { permission: [], unit: [], user: [], file: [], directory: [] };
  for (const line of content.toString('utf8').split('\n')) {
    const [kind = '', name = ''] = line.split(' ', 2);
    if (isKind(kind) && OURS[kind].test(name)) names[kind].push(name);
  }
  const { permission, unit, user, file, directory } = names;
  return { permissions: permission, units: unit, users: user, files: file, directories: directory };
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(OURS, kind);
}
