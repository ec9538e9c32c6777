import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';
import { withLock, withLockIfFree } from '../lock.js';
import { requireSpace } from '../machine.js';
import { IMAGES, type Suite } from '../names.js';
import { runBuild } from './build.js';
import { imageName } from './recipe.js';

/** A root file system, and the packages that hosts booted from it can install. */
export interface Image {
  /** Folder below IMAGES. */
  readonly name: string;
  readonly root: string;
  readonly packages: string;
}

function imageAt(name: string): Image {
  return { name, root: join(IMAGES, name, 'root'), packages: join(IMAGES, name, 'packages') };
}

/** Folders that are being filled; they get their name when they are whole. */
const DRAFT = '.building-';
/** An image and its packages take 250 MiB; building needs some more for a while. */
const NEEDED_BYTES = 1024 ** 3;

interface ImageRequest {
  readonly suite: Suite;
  /** Images that labs were booted from: they stay. */
  readonly inUse: ReadonlySet<string>;
  /** Cgroup that takes the build, so that it can be ended with its lab. */
  readonly cgroup: string;
  readonly onProgress: (text: string) => void;
}

/**
 * Keeps images as they are for others while `work` runs, so that one can be built, or taken into use, or removed.
 * @param onWait called once if somebody else builds
 */
export function withImages<T>(work: () => Promise<T>, onWait?: () => void): Promise<T> {
  return withLock('images', work, onWait);
}

/** The suite's image: from the cache, or built now, which takes a minute or two. To be called within withImages. */
export async function ensureImage({ suite, inUse, cgroup, onProgress }: ImageRequest): Promise<Image> {
  const image = imageAt(imageName(suite));
  if (await exists(join(IMAGES, image.name))) return image;
  await mkdir(IMAGES, { recursive: true, mode: 0o755 });
  await removeDrafts();
  await requireSpace(IMAGES, NEEDED_BYTES);
  const draft = join(IMAGES, `${DRAFT}${image.name}`);
  await mkdir(draft, { mode: 0o755 });
  await runBuild({ suite, directory: draft, cgroup, onProgress });
  await writeFile(join(draft, 'built'), `${new Date().toISOString()}\n`);
  await rename(draft, join(IMAGES, image.name));
  await removeOlder(suite, new Set([...inUse, image.name]));
  return image;
}

/** @throws Failure where somebody removed an image that a lab was booted from */
export async function requireImage(name: string, lab: string): Promise<Image> {
  const image = imageAt(name);
  if (await exists(image.root)) return image;
  throw new Failure(
    `the image ${name} of the lab ${lab} is gone`,
    EXIT.couldNotTell,
    `watertight lab down --lab ${lab}`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function removeDrafts(): Promise<void> {
  for (const name of await readdir(IMAGES).catch(() => [])) {
    if (name.startsWith(DRAFT)) await rm(join(IMAGES, name), { recursive: true, force: true });
  }
}

/** Images of the suite that were made by another recipe. */
async function removeOlder(suite: Suite, keep: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(IMAGES)) {
    if (name.startsWith(`${suite}-`) && !keep.has(name)) await rm(join(IMAGES, name), { recursive: true, force: true });
  }
}

/** Removes what killed builds left, unless a build is under way. */
export async function removeBrokenBuilds(): Promise<void> {
  await withLockIfFree('images', removeDrafts);
}

/** Removes every image that no lab uses. @returns their names */
export async function removeImages(inUse: () => Promise<ReadonlySet<string>>): Promise<readonly string[]> {
  return withImages(async () => {
    const used = await inUse();
    const unused = (await readdir(IMAGES).catch(() => [])).filter((name) => !used.has(name));
    for (const name of unused) await rm(join(IMAGES, name), { recursive: true, force: true });
    return unused;
  });
}
