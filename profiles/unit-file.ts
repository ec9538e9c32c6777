import { PATHS } from './names.js';
import type { ProfileFile } from './profile.js';

/** One section of a unit file: its settings in order; the same setting may stand more than once. */
export type UnitSection = readonly [name: string, settings: readonly (readonly [setting: string, value: string])[]];

/** Renders a unit file. Values come from the renderers alone: names are validated long before. */
export function unitFile(name: string, sections: readonly UnitSection[]): ProfileFile {
  const blocks = sections.map(([section, settings]) =>
    [`[${section}]`, ...settings.map(([setting, value]) => `${setting}=${value}`), ''].join('\n'),
  );
  const content = ['# Written by watertight. Changes here are undone by the next provision.\n', ...blocks].join('\n');
  return { path: unitPath(name), content, mode: 0o644, owner: 'root', group: 'root' };
}

/** Where a unit that an administrator wrote belongs (systemd.unit(5)). */
export function unitPath(name: string): string {
  return `${PATHS.units}/${name}`;
}
