// The licence texts of the libraries that a bundle contains: they have to travel with it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of the innermost package that a bundled file belongs to, for example node_modules/a/node_modules/@b/c. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * @param {readonly string[]} inputs paths of bundled files, as esbuild's metafile names them
 * @returns {Promise<string>} one section a package: its name, version and licence text
 * @throws Error where a package names no licence, and so may not be bundled
 */
export async function noticesFor(inputs) {
  const folders = [...new Set(inputs.flatMap((input) => PACKAGE.exec(input)?.[0] ?? []))].sort();
  const sections = await Promise.all(folders.map(notice));
  return `${[...new Set(sections)].join(`\n${'-'.repeat(80)}\n\n`)}`;
}

async function notice(folder) {
  const { name, version, ...said } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  // Older packages have a list of objects.
  const license = said.license ?? said.licenses?.map(({ type }) => type).join(' or ');
  if (!license) throw new Error(`${name} ${version} is bundled and names no licence`);
  const file = (await readdir(folder)).find((entry) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(entry));
  const none = 'Its package holds no licence text beyond this name.';
  const text = file === undefined ? none : await readFile(join(folder, file), 'utf8');
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
