// Steps of a test run: each says what it does, shows the tool's own output, and counts.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The run's sums. A test that was skipped, or is to be done, is none that passed. */
export const totals = { passed: 0, failed: 0 };

/** A heading of the run. */
export function say(text) {
  process.stdout.write(`\n== ${text}\n`);
}

/**
 * Runs a program on this terminal. @returns its status; 1 where a signal ended it or it is not there
 * @param onOutput gets what it prints, too
 */
export function run(program, args, environment = {}, onOutput = null) {
  return new Promise((resolve) => {
    const stdio = ['ignore', onOutput ? 'pipe' : 'inherit', 'inherit'];
    const child = spawn(program, args, { stdio, env: { ...process.env, ...environment } });
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      process.stdout.write(chunk);
      onOutput(chunk);
    });
    child.on('error', (error) => {
      process.stdout.write(`${program}: ${error.message}\n`);
      resolve(1);
    });
    child.on('close', (status) => resolve(status ?? 1));
  });
}

/** A step that the run cannot go on without. */
export async function need(text, program, args) {
  say(text);
  const status = await run(program, args);
  if (status !== 0) throw new Error(`${text}: ${program} ended with status ${status}`);
}

/** A step that counts as one test. */
export async function check(text, program, args) {
  say(text);
  count((await run(program, args)) === 0, text);
}

/** Counts one test that is not one of tap's, and says how it went. */
export function count(passed, text) {
  if (passed) totals.passed += 1;
  else totals.failed += 1;
  process.stdout.write(`${passed ? 'ok' : 'not ok'} - ${text}\n`);
}

/** Runs test files under tap, and adds its own sums to ours. */
export async function tap(text, files, args, environment) {
  say(text);
  const directory = mkdtempSync(join(tmpdir(), 'watertight-tap-'));
  try {
    const file = join(directory, 'output.tap');
    // In a log the TAP itself is the report; with an output file beside it tap would print it twice.
    const onTerminal = process.stdout.isTTY === true;
    const report = onTerminal ? ['--reporter=base', `--output-file=${file}`] : ['--reporter=tap'];
    const options = ['run', ...report, ...args, ...files];
    let printed = '';
    const onOutput = onTerminal
      ? null
      : (chunk) => {
          printed += chunk;
        };
    const status = await run(join('node_modules', '.bin', 'tap'), options, environment, onOutput);
    add(sums(onTerminal ? readFileSync(file, 'utf8') : printed), status, text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** tap closes its output with a comment like `# { total: 5, pass: 3, fail: 1, skip: 1 }`. */
export function sums(output) {
  const closing = [...output.matchAll(/^# \{ (total: .*) \}$/gm)].at(-1)?.[1] ?? '';
  const figures = Object.fromEntries(closing.split(', ').map((pair) => pair.split(': ')));
  const figure = (name) => Number(figures[name] ?? 0);
  return { total: figure('total'), passed: figure('pass'), failed: figure('fail') + figure('skip') + figure('todo') };
}

function add({ total, passed, failed }, status, text) {
  totals.passed += passed;
  totals.failed += failed;
  // A file that died, hung or held no test may leave the sums clean.
  if (failed === 0 && (status !== 0 || total === 0))
    count(false, `${text}: tap ended with status ${status} after ${total} tests`);
}

/** Whether a program is in the PATH. */
export function hasProgram(name) {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status === 0;
}
