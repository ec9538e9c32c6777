import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

/** What the script itself lives on; every other program of its PATH is a fake. */
const ESSENTIAL = ['bash', 'env', 'readlink', 'dirname', 'uname', 'mktemp', 'tail', 'rm', 'cat'];
const NOISE = 'i=0; while [ $i -lt 50 ]; do echo "Get:$i noise"; echo "npm warn noise" >&2; i=$((i + 1)); done';
const FAKES: Readonly<Record<string, string>> = {
  id: 'echo 0',
  'apt-get': NOISE,
  npm: NOISE,
  node: 'case $* in -p*) echo 20 ;; *libraries*) exit 1 ;; *verify*) echo proof; exit 1 ;; *) echo "ran $*" ;; esac',
};

/** Runs a copy of the script on a machine that lacks everything, with these programs in place of the fakes. */
function quickstart(folder: string, over: Readonly<Record<string, string>> = {}) {
  const bin = join(folder, 'bin');
  for (const name of ['bin', 'scripts', 'tmp']) mkdirSync(join(folder, name));
  const script = join(folder, 'scripts/quickstart');
  copyFileSync('scripts/quickstart', script);
  for (const name of ESSENTIAL)
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  for (const [name, body] of Object.entries({ ...FAKES, ...over })) {
    writeFileSync(join(bin, name), `#!/usr/bin/env bash\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { PATH: bin, TMPDIR: join(folder, 'tmp') };
  const { status, stdout, stderr } = spawnSync(script, [], { encoding: 'utf8', env });
  return { status, stdout, stderr, logs: readdirSync(join(folder, 'tmp')).map((name) => join(folder, 'tmp', name)) };
}

t.test('the quick start', async (t) => {
  t.test('says a line a step, and ends as verify does', async (t) => {
    const { status, stdout, stderr, logs } = quickstart(t.testdir({}));
    t.equal(status, 1);
    t.match(stdout, /ran dist\/watertight\.mjs lab up\nran .* provision .*\nproof\n$/);
    t.notMatch(stdout + stderr, /noise/, 'what apt and npm say is kept away');
    for (const step of ['installing on this machine: iproute2', 'installing the libraries', 'building', 'booting'])
      t.match(stderr, `== ${step}`);
    t.same(logs, [], 'no log stays behind');
    const next = stderr.split('\n').filter((line) => line.includes('dist/watertight.mjs'));
    t.equal(next.length, 3);
    for (const line of next) t.match(line, /^ {2}sudo node dist\/watertight\.mjs /, 'the key is root’s');
  });
  const failures: readonly { why: string; over: Readonly<Record<string, string>>; says: RegExp }[] = [
    { why: 'apt', over: { 'apt-get': `${NOISE}; echo E: why; exit 100` }, says: /error: apt-get .* update .* 100\n/ },
    { why: 'npm', over: { npm: `${NOISE}; echo E: why; exit 7` }, says: /error: npm ci .* status 7\n/ },
  ];
  for (const { why, over, says } of failures) {
    t.test(`${why} that fails leaves its output, and says where`, async (t) => {
      const { status, stderr, logs } = quickstart(t.testdir({}), over);
      t.equal(status, 2);
      t.match(stderr, says);
      t.match(stderr, /E: why\n/, 'its last words at once');
      const [log = ''] = logs;
      t.match(stderr, `fix: see ${log}`);
      t.match(readFileSync(log, 'utf8'), /noise[\s\S]*E: why/);
    });
  }
});

t.test('no library runs a script when it is installed, and npm has nothing to ask', async (t) => {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const packages: Readonly<Record<string, { hasInstallScript?: boolean }>> = read('package-lock.json').packages;
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''));
  const denied = Object.fromEntries(names.map((name) => [name, false]));
  t.same(read('package.json').allowScripts, denied, 'esbuild and ssh2 do without: each has a fallback');
});
