import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { claimsPage } from '../checks/claims-page.js';
import { EXIT } from '../core/outcome.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

t.test('docs/claims.md is the catalogue', async (t) => {
  const path = join(root, 'docs/claims.md');
  if (process.env.WATERTIGHT_GOLDEN === 'write') await writeFile(path, claimsPage());
  t.equal(await readFile(path, 'utf8'), claimsPage(), 'WATERTIGHT_GOLDEN=write npx tap test/docs.test.ts writes it');
});

t.test('every exit code is in the table', async (t) => {
  const rows = (await readFile(join(root, 'README.md'), 'utf8')).split('\n').filter((line) => /^\| \d/.test(line));
  const listed = rows.flatMap((row) => row.split('|')[1]?.split(',') ?? []).map(Number);
  const signals = (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const).map(
    (signal) => 128 + constants.signals[signal],
  );
  t.same(new Set(listed), new Set([...Object.values(EXIT), ...signals]));
});

t.test('every page that is linked is there', async (t) => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs/configuration.md',
    'docs/operations.md',
    'docs/design.md',
    'docs/threat-model.md',
  ];
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { files: readonly string[] };
  const packed = (path: string) => path === 'README.md' || files.some((file) => `${path}/`.startsWith(`${file}/`));
  for (const page of pages) {
    const text = await readFile(join(root, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
      await t.resolves(readFile(join(root, dirname(page), link)), `${page} links to ${link}`);
      t.ok(packed(join(dirname(page), link)), `${page} links to ${link}, which the tarball holds too`);
    }
  }
});
