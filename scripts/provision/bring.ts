import { EXIT } from '../../core/outcome.js';
import { succeeded, type Target } from '../../core/target/target.js';
import { PATHS } from '../../profiles/names.js';
import { type Change, QUICK_MS } from '../../profiles/resources/change.js';
import { type HostFacts, needed } from '../../profiles/resources/facts.js';
import { STAGED_BUNDLE, STAGING } from '../../profiles/resources/state-paths.js';
import type { Brought } from './brought.js';
import { describeResult } from './describe-result.js';
import type { Emit } from './events.js';
import type { HostBundle } from './host-bundle.js';
import { perform } from './perform.js';
import type { Stop } from './stop.js';

const UPLOAD_MS = 120_000;

export interface Bringing {
  readonly target: Target;
  readonly facts: HostFacts;
  /** All that will be made; what is made here is part of it. */
  readonly changes: readonly Change[];
  readonly emit: Emit;
  readonly brought: Brought[];
}

/**
 * Everything but the interpreter is put there by the program on the host, which needs Node to run. Where that is absent,
 * one apt run brings all packages.
 */
export async function bringInterpreter(bringing: Bringing): Promise<Stop | null> {
  if (bringing.facts.packages.has('nodejs')) return null;
  const change = bringing.changes.find(({ kind }) => kind === 'package');
  if (change === undefined) return null;
  const failure = await makeFirst(bringing, change);
  return failure === null ? null : { exit: EXIT.no, kind: 'packages', reason: failure, fix: null };
}

/** @returns the path of our bundle on the host: the installed one, or one that waits to be installed */
export async function bringBundle(bringing: Bringing, bundle: HostBundle): Promise<string | Stop> {
  const { target, facts, changes, emit } = bringing;
  const installed = needed(facts.files, PATHS.bundle);
  if (installed.kind === 'file' && installed.sha256 === bundle.sha256) return PATHS.bundle;
  const folder = changes.find(({ id }) => id === `directory:${PATHS.state}`);
  const failure = folder === undefined ? null : await makeFirst(bringing, folder);
  if (failure !== null) return notUploaded(failure);
  emit({ type: 'progress', text: `uploading the program (${Math.ceil(bundle.content.length / 1024)} KiB)` });
  const staging = ['install', '-d', '-m', '0755', '-o', 'root', '-g', 'root', '--', STAGING] as const;
  const made = await target.exec({ command: staging, become: true, deadlineMs: QUICK_MS });
  if (!succeeded(made)) return notUploaded(describeResult(made));
  const file = { path: STAGED_BUNDLE, content: bundle.content, mode: 0o644, become: true, deadlineMs: UPLOAD_MS };
  const uploaded = await target.upload(file);
  return succeeded(uploaded) ? STAGED_BUNDLE : notUploaded(describeResult(uploaded));
}

/** @returns null where it succeeded, otherwise why it did not */
async function makeFirst({ target, emit, brought }: Bringing, change: Change): Promise<string | null> {
  const { id, summary, operations, kept } = change;
  emit({ type: 'step', id, summary, state: 'started', detail: '' });
  // An installation that fails may have brought some of the packages.
  brought.push({ summary, kept });
  for (const operation of operations) {
    const failure = await perform(target, operation, (text) => emit({ type: 'progress', text }));
    if (failure === null) continue;
    emit({ type: 'step', id, summary, state: 'failed', detail: failure });
    return `${summary}: ${failure}`;
  }
  emit({ type: 'step', id, summary, state: 'done', detail: '' });
  return null;
}

function notUploaded(reason: string): Stop {
  return {
    exit: EXIT.couldNotTell,
    kind: 'upload',
    reason: `the program did not reach the host: ${reason}`,
    fix: null,
  };
}
