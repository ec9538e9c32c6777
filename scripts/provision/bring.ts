import { EXIT } from '../../core/outcome.js';
import { succeeded, type Target } from '../../core/target/target.js';
import { PATHS } from '../../profiles/names.js';
import { QUICK_MS } from '../../profiles/resources/change.js';
import { type HostFacts, needed } from '../../profiles/resources/facts.js';
import { comparePackages } from '../../profiles/resources/package.js';
import { STAGED_BUNDLE, STAGING } from '../../profiles/resources/state-paths.js';
import { describeResult } from './describe-result.js';
import type { Emit } from './events.js';
import type { HostBundle } from './host-bundle.js';
import { perform } from './perform.js';
import type { Stop } from './stop.js';

const UPLOAD_MS = 120_000;

/**
 * Everything but the interpreter is put there by the program on the host, which needs Node to run. Where that is absent,
 * one apt run brings all packages.
 * @returns how many changes it took
 */
export async function bringInterpreter(
  target: Target,
  facts: HostFacts,
  packages: readonly string[],
  emit: Emit,
): Promise<number | Stop> {
  const change = facts.packages.has('nodejs') ? null : comparePackages(facts.packages, packages);
  if (change === null) return 0;
  const { id, summary, operations } = change;
  emit({ type: 'step', id, summary, state: 'started', detail: '' });
  for (const operation of operations) {
    const failure = await perform(target, operation, (text) => emit({ type: 'progress', text }));
    if (failure === null) continue;
    emit({ type: 'step', id, summary, state: 'failed', detail: failure });
    return { exit: EXIT.no, kind: 'packages', reason: `${summary}: ${failure}`, fix: null };
  }
  emit({ type: 'step', id, summary, state: 'done', detail: '' });
  return 1;
}

/** @returns the path of our bundle on the host: the installed one, or one that waits to be installed */
export async function bringBundle(
  target: Target,
  facts: HostFacts,
  bundle: HostBundle,
  emit: Emit,
): Promise<string | Stop> {
  const installed = needed(facts.files, PATHS.bundle);
  if (installed.kind === 'file' && installed.sha256 === bundle.sha256) return PATHS.bundle;
  emit({ type: 'progress', text: `uploading the program (${Math.ceil(bundle.content.length / 1024)} KiB)` });
  const staging = ['install', '-d', '-m', '0755', '-o', 'root', '-g', 'root', '--', PATHS.state, STAGING] as const;
  const made = await target.exec({ command: staging, become: true, deadlineMs: QUICK_MS });
  if (!succeeded(made)) return notUploaded(describeResult(made));
  const file = { path: STAGED_BUNDLE, content: bundle.content, mode: 0o644, become: true, deadlineMs: UPLOAD_MS };
  const uploaded = await target.upload(file);
  return succeeded(uploaded) ? STAGED_BUNDLE : notUploaded(describeResult(uploaded));
}

function notUploaded(reason: string): Stop {
  return {
    exit: EXIT.couldNotTell,
    kind: 'upload',
    reason: `the program did not reach the host: ${reason}`,
    fix: null,
  };
}
