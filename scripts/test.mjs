// Sets up all that the tests need, runs them all, and ends with `N passed, N failed`.
//   npm test                         everything (as root: the live tests boot hosts)
//   npm test -- unit [FILE…]         lint, types and unit tests alone, or some of these: needs no root
//   npm test -- live [FILE…]         the live tests alone, or some of them
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { labNamespaces, leftovers } from './testing/leftovers.mjs';
import { librariesAreCurrent } from './testing/libraries.mjs';
import { check, count, hasProgram, need, run, say, tap, totals } from './testing/steps.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

/** What the live tests call on this machine, with the Debian package that brings it. `lab up` sees to its own. */
const PROGRAMS = { ip: 'iproute2', ssh: 'openssh-client', 'ssh-keygen': 'openssh-client', nsenter: 'util-linux' };
const PROGRAM = join('dist', 'watertight.mjs');
const LIVE = join('test', 'live');
const LIVE_TIMEOUT_S = 1200;
/** A part of the tests covers a part, and what runs on a host is another process's: the figures are the whole unit run's. */
const UNMEASURED = ['--disable-coverage'];

async function prepare() {
  if (!librariesAreCurrent()) {
    await need('installing the libraries', 'npm', ['ci', '--no-audit', '--no-fund']);
  }
  await need('building', 'npm', ['run', '--silent', 'build']);
}

async function testUnits(files) {
  await check('lint and format', 'npx', ['biome', 'check', '.']);
  await check('types', 'npx', ['tsc', '--noEmit']);
  const all = testFiles('test').filter((file) => !file.startsWith(`${LIVE}/`));
  if (files.length > 0) await tap('unit tests', files, UNMEASURED);
  else await tap('unit tests', all, ['--no-allow-incomplete-coverage', '--coverage-report=text-summary']);
}

async function testLive(files) {
  if (process.getuid() !== 0) {
    count(false, 'the live tests need root (they boot hosts): run `sudo npm test`; without: `npm test -- unit`');
    return;
  }
  await installPrograms();
  await removeOldLabs();
  // The name tells a later run which process the lab belongs to.
  const lab = `t${process.pid}`;
  const stop = onSignals(() => run(process.execPath, [PROGRAM, 'lab', 'down', '--lab', lab]));
  let namespaces = new Set();
  try {
    await need('booting the lab', process.execPath, [PROGRAM, 'lab', 'up', '--lab', lab]);
    const tests = files.length > 0 ? files : testFiles(LIVE);
    await tap('live tests', tests, [...UNMEASURED, '--jobs=1', `--timeout=${LIVE_TIMEOUT_S}`], {
      WATERTIGHT_TEST_LAB: lab,
    });
    namespaces = labNamespaces(lab);
    count(namespaces.size > 0, 'the lab was there until the end');
  } finally {
    await check('taking the lab down', process.execPath, [PROGRAM, 'lab', 'down', '--lab', lab]);
    stop();
  }
  const left = leftovers(lab, namespaces);
  count(
    left.length === 0,
    ['no process, namespace, mount, bridge, cgroup or file of the lab is left', ...left].join('\n  '),
  );
}

async function installPrograms() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !hasProgram(program));
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(([, name]) => name))];
  await need('reading the package lists', 'apt-get', ['-q', 'update']);
  await need(`installing ${names.join(' ')}`, 'apt-get', [
    '-q',
    'install',
    '--yes',
    '--no-install-recommends',
    ...names,
  ]);
}

/** Labs of test runs that were killed. */
async function removeOldLabs() {
  const labs = existsSync('/var/lib/watertight-lab') ? readdirSync('/var/lib/watertight-lab') : [];
  for (const lab of labs) {
    const pid = /^t(\d+)$/.exec(lab)?.[1];
    if (pid && !existsSync(`/proc/${pid}`)) await run(process.execPath, [PROGRAM, 'lab', 'down', '--lab', lab]);
  }
}

function testFiles(directory) {
  const found = readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return entry.name === 'fixtures' ? [] : testFiles(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
  return found.sort();
}

/** Ctrl-C reaches the children too; what is left to do is the lab. @returns takes the handler away */
function onSignals(cleanUp) {
  const end = async () => {
    await cleanUp();
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, end);
  };
}

const [part = 'all', ...files] = process.argv.slice(2);
if (!['all', 'unit', 'live'].includes(part)) {
  process.stderr.write(`unknown part ${JSON.stringify(part)}: npm test -- [all|unit|live] [FILE…]\n`);
  process.exit(64);
}
try {
  await prepare();
  if (part !== 'live') await testUnits(files);
  if (part !== 'unit') await testLive(files);
} catch (error) {
  count(false, error instanceof Error ? error.message : String(error));
}
say('done');
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;
