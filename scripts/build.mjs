// Builds the two programs of the package: the controller's, and the one file that provision uploads to a host.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { build } from 'esbuild';

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
  { entry: 'scripts/main.ts', out: 'dist/watertight.mjs', target: 'node20' },
  { entry: 'scripts/host-main.ts', out: 'dist/watertight-host.mjs', target: 'node18.19' },
];

await rm('dist', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
for (const program of programs) {
  await build({
    entryPoints: [program.entry],
    outfile: program.out,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: program.target,
    // The second line is read by probes/: a version without starting the program.
    banner: { js: `#!/usr/bin/env node\n// watertight ${version}\n${requireShim}` },
    external: optionalAddons,
    define: { WATERTIGHT_VERSION: JSON.stringify(version) },
    loader: { '.sh': 'text', '.py': 'text' },
    legalComments: 'linked',
    logLevel: 'warning',
  });
}
