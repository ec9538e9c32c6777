import { readFile } from 'node:fs/promises';
import { digestOf } from '../../core/digest.js';
import { Failure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';

/** The program that runs on hosts, as this installation has it. */
export interface HostBundle {
  readonly content: Buffer;
  readonly sha256: string;
}

const NAME = 'watertight-host.mjs';
/** Beside the controller's own bundle; or, where the sources run unbuilt, in the folder that the build fills. */
const PLACES = [`./${NAME}`, `../../dist/${NAME}`] as const;

/** @throws Failure where it was never built */
export async function hostBundle(): Promise<HostBundle> {
  for (const place of PLACES) {
    const content = await readFile(new URL(place, import.meta.url)).catch(() => null);
    if (content !== null) return { content, sha256: digestOf(content) };
  }
  throw new Failure(`the program for hosts (${NAME}) is not there`, EXIT.couldNotTell, 'npm run build');
}
