// Imports *.sh and *.py as text, as the build does, when tests run from source.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';

if (!import.meta.url.includes('?hooks')) register(`${import.meta.url}?hooks`);

export async function load(url, context, nextLoad) {
  if (!/\.(sh|py)$/.test(new URL(url).pathname)) return nextLoad(url, context);
  const text = await readFile(new URL(url), 'utf8');
  return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(text)};` };
}
