// Builds the two programs of the package: the controller's, and the one file that provision uploads to a host.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { $ } from 'zx';
import { noticesFor } from './notices.mjs';

/** Bundled CommonJS libraries still call require for Node's own modules, and ssh2 asks where it stands. */
const requireShim = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join(' ');

/** ssh2's two optional native addons: it falls back to its own JavaScript where they are absent. */
const optionalAddons = ['cpu-features', './crypto/build/Release/sshcrypto.node'];

const { version } = JSON.parse(await readFile('package.json', 'utf8'));

const programs = [
  { entry: 'scripts/main.ts', name: 'watertight.mjs', target: 'node20' },
  { entry: 'scripts/host-main.ts', name: 'watertight-host.mjs', target: 'node18.19' },
];

// Built aside and renamed, so that a program that is in use is never half there.
await mkdir('dist', { recursive: true });
const aside = await mkdtemp('dist/.build-');
try {
  const inputs = [];
  for (const program of programs) inputs.push(...(await bundle(program)));
  await writeFile(join(aside, 'THIRD-PARTY-LICENSES.txt'), await noticesFor(inputs));
  // A bundle can lack what only its start would tell: one that does not start takes nobody's place.
  for (const { name } of programs) await $({ quiet: true })`${process.execPath} ${join(aside, name)} --version`;
  for (const file of await readdir(aside)) await rename(join(aside, file), join('dist', file));
} finally {
  await rm(aside, { recursive: true, force: true });
}

/** @returns the files that went into it */
async function bundle({ entry, name, target }) {
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: join(aside, name),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target,
    // The second line is read by probes/: a version without starting the program.
    banner: { js: `#!/usr/bin/env node\n// watertight ${version}\n${requireShim}` },
    external: optionalAddons,
    define: { WATERTIGHT_VERSION: JSON.stringify(version) },
    loader: { '.sh': 'text', '.py': 'text' },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}
