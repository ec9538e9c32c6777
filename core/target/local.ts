import { performance } from 'node:perf_hooks';
import { newNonce } from '../nonce.js';
import { Cutoff } from './cutoff.js';
import { endRequest } from './end-request.js';
import { spawnLocal } from './local-process.js';
import { Markers } from './markers.js';
import { requestProblem } from './request.js';
import { staged } from './stages.js';
import { supervise } from './supervise.js';
import type { ExecOutcome, ExecRequest, ExecResult, Target } from './target.js';
import { uploadRequest } from './upload.js';

/** This machine as a target. `name` is what messages call it. */
export function localTarget(name = 'localhost'): Target {
  const closing = new AbortController();
  const exec = (request: ExecRequest) => runLocal(request, closing.signal);
  return {
    name,
    exec,
    upload: (file) => exec(uploadRequest(file)),
    close: async () => closing.abort(),
  };
}

async function runLocal(request: ExecRequest, closing: AbortSignal): Promise<ExecResult> {
  const startedAt = performance.now();
  const nothing = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const failed = (outcome: ExecOutcome) => ({ outcome, ...nothing, durationMs: performance.now() - startedAt });
  const problem = requestProblem(request);
  if (problem !== null) return failed({ kind: 'cannot-spawn', detail: problem });
  if (request.signal?.aborted || closing.aborted) return failed({ kind: 'cancelled' });
  const cutoff = new Cutoff(request);
  const onClosing = () => cutoff.reach({ kind: 'cancelled' });
  closing.addEventListener('abort', onClosing);
  try {
    const mustBecome = request.become === true && process.geteuid?.() !== 0;
    const result = mustBecome ? await becoming(request, cutoff, startedAt) : await plain(request, cutoff);
    return { ...result, durationMs: performance.now() - startedAt };
  } finally {
    closing.removeEventListener('abort', onClosing);
    cutoff.dispose();
  }
}

async function plain(request: ExecRequest, cutoff: Cutoff): Promise<Omit<ExecResult, 'durationMs'>> {
  const running = await spawnLocal(request.command, request.environment ?? {});
  if ('kind' in running) return { outcome: running, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  return supervise(running, request, cutoff);
}

/** Through sudo, as on a remote host: its refusal is told from the program's status, and its group is ended as root. */
async function becoming(
  request: ExecRequest,
  cutoff: Cutoff,
  startedAt: number,
): Promise<Omit<ExecResult, 'durationMs'>> {
  const nonce = newNonce('wt');
  const markers = new Markers(nonce);
  const running = await spawnLocal(staged(request, nonce), {});
  if ('kind' in running) return { outcome: running, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const end = async () => {
    if (markers.group !== null) await runLocal(endRequest(markers.group, nonce, true), new AbortController().signal);
    await running.end();
  };
  const result = await supervise({ ...running, end }, request, cutoff, markers);
  const elapsedMs = performance.now() - startedAt;
  return { ...result, ...markers.interpret(request, result.outcome, result.stderr, elapsedMs) };
}
