import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { digestOf } from '../../core/digest.js';
import { Failure } from '../../core/failure.js';
import { acquireHostLock, type HostLock } from '../../core/host-lock.js';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { localTarget } from '../../core/target/local.js';
import { PATHS } from '../../profiles/names.js';
import { parseHostProfile } from '../../profiles/parse-host-profile.js';
import type { HostProfile } from '../../profiles/profile.js';
import { MANIFEST } from '../../profiles/resources/manifest.js';
import { STAGING, TRANSACTION } from '../../profiles/resources/state-paths.js';
import { type ControllerChannel, listenToController } from './controller-channel.js';
import { rememberProof } from './earlier-proof.js';
import { type Emit, started } from './events.js';
import { Journal } from './journal.js';
import { leaveNoTrace } from './leave-no-trace.js';
import { provisionHere } from './local-run.js';
import { proveHere } from './prove.js';

const LOCK_WAIT_MS = 120_000;

/**
 * The part of provision that runs on the host, as root: reads the profile from standard input, says what it does on
 * standard output (a JSON event a line), and waits there for `commit`.
 */
export async function runOnHost(): Promise<ExitCode> {
  outliveTheController();
  const channel = listenToController(process.stdin);
  try {
    const profile = await profileFrom(channel);
    emit(started(profile, new Date()));
    const lock = await takeTurn();
    if (lock === null) return EXIT.couldNotTell;
    try {
      return await underLock(profile, channel);
    } finally {
      await lock.release();
    }
  } finally {
    channel.close();
  }
}

const emit: Emit = (event) => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

/** A controller that is gone must not take this run with it: it has to end what it began, or to take it back. */
function outliveTheController(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
  }
}

async function profileFrom(channel: ControllerChannel): Promise<HostProfile> {
  const profile = await channel.profile;
  if (profile === null) {
    throw new Failure(
      'provision --local reads a profile from its standard input',
      EXIT.usage,
      'watertight provision HOST',
    );
  }
  return parseHostProfile(profile);
}

/** One provision or verify at a time. */
async function takeTurn(): Promise<HostLock | null> {
  const first = await acquireHostLock(PATHS.lock, { waitMs: 0, who: 'provision' });
  if (first.kind === 'locked') return first;
  if (first.kind === 'held') emit({ type: 'progress', text: `waiting for ${first.by} to end` });
  const lock =
    first.kind === 'held' ? await acquireHostLock(PATHS.lock, { waitMs: LOCK_WAIT_MS, who: 'provision' }) : first;
  if (lock.kind === 'locked') return lock;
  const reason =
    lock.kind === 'held' ? `${lock.by} holds the host's lock` : `cannot take the host's lock: ${lock.reason}`;
  emit({ type: 'failure', kind: 'locked', reason, fix: null });
  emit({ type: 'finished', exit: EXIT.couldNotTell, result: 'untouched', changes: 0, durationMs: 0 });
  return null;
}

async function underLock(profile: HostProfile, channel: ControllerChannel): Promise<ExitCode> {
  const program = process.argv[1] ?? PATHS.bundle;
  const stop = new AbortController();
  const abort = () => stop.abort();
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, abort);
  channel.gone.addEventListener('abort', abort);
  if (channel.gone.aborted) abort();
  try {
    return await provisionHere({
      profile,
      bundle: { sha256: digestOf(await readFile(program)), staged: program },
      target: localTarget(profile.host),
      journal: new Journal(TRANSACTION),
      emit,
      signal: stop.signal,
      prove: proveHere,
      restoreProof: rememberProof(PATHS.attestation),
      confirmed: (withinMs) => channel.confirmed(withinMs),
    });
  } finally {
    for (const signal of signals) process.off(signal, abort);
    if (dirname(program) === STAGING) rmSync(STAGING, { recursive: true, force: true });
    leaveNoTrace({ signs: [MANIFEST, PATHS.bundle, PATHS.configuration], state: PATHS.state, run: PATHS.run });
  }
}
