import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Failure } from '../failure.js';
import { EXIT } from '../outcome.js';

/** Where the configuration is looked for when no file is named; the last one is the inventory of the default lab. */
export function configurationPlaces(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  // A file named on purpose is the only place: falling back to another would act on hosts that were not meant.
  if (environment.WATERTIGHT_CONFIG) return [resolve(environment.WATERTIGHT_CONFIG)];
  return [
    resolve('watertight.yaml'),
    resolve(homedir(), '.config/watertight/watertight.yaml'),
    '/etc/watertight/watertight.yaml',
    '/var/lib/watertight-lab/lab/watertight.yaml',
  ];
}

/**
 * Reads the first of the places that is there.
 *
 * @throws Failure, exit 78, where none is or it cannot be read.
 */
export async function readFirst(places: readonly string[]): Promise<{ readonly path: string; readonly text: string }> {
  for (const path of places) {
    try {
      return { path, text: await readFile(path, 'utf8') };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') {
        throw new Failure(`cannot read the configuration ${path}: ${message}`, EXIT.configuration);
      }
    }
  }
  throw new Failure(
    `no configuration found; looked in:\n${places.map((place) => `  ${place}`).join('\n')}`,
    EXIT.configuration,
    'name one with --config FILE or WATERTIGHT_CONFIG, or begin with a lab of your own: sudo watertight lab up',
  );
}
