import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * What a reviewed file of the repository says, to compare a rendering with. WATERTIGHT_GOLDEN=write writes the rendering
 * there first: the change then shows in `git diff`, where a person judges it.
 *
 * @param path relative to the repository.
 */
export function golden(path: string, rendering: string): string {
  const file = new URL(`../${path}`, import.meta.url).pathname;
  if (process.env.WATERTIGHT_GOLDEN === 'write') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, rendering);
  }
  return readFileSync(file, 'utf8');
}
