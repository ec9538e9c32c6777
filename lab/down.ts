import { rm } from 'node:fs/promises';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { removeCgroups } from './cgroup-removal.js';
import { removeBrokenBuilds, removeImages } from './image/image.js';
import { findLeftovers } from './leftovers.js';
import { absenceOf } from './list.js';
import { withLock } from './lock.js';
import { requireRoot, thisMachine } from './machine.js';
import { checkLabName, DEFAULT_LAB, labDirectory } from './names.js';
import { removeInterfaces } from './network.js';
import { imagesInUse } from './state.js';

export interface DownOptions {
  /** Default `lab`. */
  readonly lab?: string;
  /** Remove the cached images that no other lab uses, too. */
  readonly images?: boolean;
  readonly onProgress?: (text: string) => void;
}

/**
 * Takes a lab away: processes, cgroups, network, files. It goes by names, not by what the lab remembers, so it also
 * clears up after a lab that was killed while it was being made. A lab that is not there is no error.
 * @returns whether there was anything of it
 */
export async function labDown(options: DownOptions = {}): Promise<boolean> {
  const name = checkLabName(options.lab ?? DEFAULT_LAB);
  const onProgress = options.onProgress ?? (() => {});
  requireRoot('taking a lab down');
  const machine = await thisMachine();
  const wasThere = await withLock(
    `lab/${name}`,
    async () => {
      if ((await findLeftovers(name)).length === 0) {
        onProgress(await absenceOf(name));
        return false;
      }
      onProgress(`taking the lab ${name} down`);
      await removeCgroups(machine, name);
      await removeInterfaces(name);
      await rm(labDirectory(name), { recursive: true, force: true });
      await requireNothingLeft(name);
      return true;
    },
    () => onProgress(`waiting: ${name} is busy`),
  );
  await removeBrokenBuilds();
  if (!options.images) return wasThere;
  const removed = await removeImages(() => imagesInUse(name));
  for (const image of removed) onProgress(`removed the image ${image}`);
  return wasThere;
}

/** A lab that leaves something behind must not say that it is gone. */
async function requireNothingLeft(name: string): Promise<void> {
  const left = await findLeftovers(name);
  if (left.length === 0) return;
  throw new Failure(
    `the lab ${name} is not quite gone:\n${left.join('\n')}`,
    EXIT.no,
    `watertight lab down --lab ${name}`,
  );
}
