// Whether node_modules holds what package-lock.json names: `node scripts/testing/libraries.mjs` exits 0 if so, else 1.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** @returns false as well where npm was cut off, since it writes its own list of what it installed last */
export function librariesAreCurrent() {
  try {
    const packages = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8')).packages;
    const wanted = packages('package-lock.json');
    const installed = packages('node_modules', '.package-lock.json');
    // Optional ones are for other machines' processors and systems, mostly.
    const needed = Object.entries(wanted).filter(([path, { optional }]) => path !== '' && !optional);
    return needed.every(([path, { version }]) => installed[path]?.version === version);
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = librariesAreCurrent() ? 0 : 1;
