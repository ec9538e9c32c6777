import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { PATHS } from '../../profiles/names.js';
import { type Ending, parseEnding } from './exit-status.js';
import { type ConfinedRun, ENDING, transientUnit } from './transient-unit.js';

/** Signals that a caller sends to its child and means for the work itself. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** How often, and in which steps, a signal is sent again while the unit is not there yet. */
const SIGNAL_RETRY = { times: 40, everyMs: 50 };

/**
 * Runs confined work to its end, on our own standard descriptors. When it ends, however it ends, its whole cgroup is
 * killed by systemd; when this process ends first, even by SIGKILL, its guardian stops the unit.
 * @returns how the main process ended
 */
export async function launch(run: Omit<ConfinedRun, 'endingFolder'>): Promise<Ending> {
  const endingFolder = `${PATHS.run}/runs/${run.unit}`;
  await mkdir(endingFolder, { recursive: true, mode: 0o700 });
  const guardian = startGuardian(run.unit, endingFolder);
  const client = startClient(transientUnit({ ...run, endingFolder }));
  const release = passSignalsOn(run.unit);
  try {
    await ended(client);
    const ending = await readEnding(`${endingFolder}/${ENDING}`);
    if (ending.kind === 'unknown') await ended(stopUnit(run.unit));
    return ending;
  } finally {
    release();
    guardian.kill();
    await rm(endingFolder, { recursive: true, force: true });
  }
}

/**
 * A process that does nothing but wait for our end of its pipe to close, which the kernel does however we die, and then
 * stops the unit and clears up. It has a session of its own, so that what ends our process group does not end it.
 */
function startGuardian(unit: string, folder: string): ChildProcess {
  const script = 'cat >/dev/null; systemctl stop "$1"; rm -rf -- "$2"';
  const child = spawn('/bin/sh', ['-c', script, 'sh', unit, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => undefined);
  child.unref();
  return child;
}

/**
 * systemd-run gets our own descriptors, except for terminals: a process that holds the operator's terminal could type
 * into it (TIOCSTI, ioctl_tty(2)), so those go through a pipe. It has its own process group, or the terminal's SIGINT
 * would end it instead of the work.
 */
function startClient(argv: readonly string[]): ChildProcess {
  const stdio = [0, 1, 2].map((descriptor) => (isatty(descriptor) ? 'pipe' : 'inherit'));
  const child = spawn('systemd-run', argv, { stdio: stdio as ('pipe' | 'inherit')[], detached: true });
  if (child.stdin) process.stdin.pipe(child.stdin);
  child.stdin?.on('error', () => undefined);
  child.stdout?.pipe(process.stdout);
  child.stderr?.pipe(process.stderr);
  return child;
}

function passSignalsOn(unit: string): () => void {
  const handlers = PASSED_ON.map((signal) => {
    const handler = () => void signalUnit(unit, signal);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}

async function signalUnit(unit: string, signal: NodeJS.Signals): Promise<void> {
  for (let attempt = 0; attempt < SIGNAL_RETRY.times; attempt += 1) {
    const argv = ['kill', '--kill-whom=main', `--signal=${signal}`, unit];
    if ((await ended(spawn('systemctl', argv, { stdio: 'ignore', detached: true }))) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, SIGNAL_RETRY.everyMs));
  }
}

function stopUnit(unit: string): ChildProcess {
  return spawn('systemctl', ['stop', unit], { stdio: 'ignore', detached: true });
}

/** Exit status of a child; null where a signal ended it or it could not be started. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (status) => resolve(status));
  });
}

async function readEnding(path: string): Promise<Ending> {
  try {
    return parseEnding(await readFile(path, 'utf8'));
  } catch {
    return parseEnding('');
  }
}
