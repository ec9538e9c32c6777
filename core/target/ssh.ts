import { performance } from 'node:perf_hooks';
import { type Connection, connect } from './connection.js';
import { requestProblem } from './request.js';
import type { SshSettings } from './settings.js';
import { Slots } from './slots.js';
import { execOn } from './ssh-exec.js';
import type { Supervised } from './supervise.js';
import type { ConnectionFailure, ExecOutcome, ExecRequest, ExecResult, Target } from './target.js';
import { uploadRequest } from './upload.js';

/** sshd has room for 10 sessions on a connection (MaxSessions); some are kept for ending what the others run. */
const SESSIONS = 8;

/**
 * A machine behind SSH as a target. It connects when it is first asked to run something, keeps the one connection for
 * all that follows, and connects anew where that one was lost.
 */
export function sshTarget(settings: SshSettings): Target {
  const target = new SshTarget(settings);
  return {
    name: settings.name,
    exec: (request) => target.exec(request),
    upload: (file) => target.exec(uploadRequest(file)),
    close: () => target.close(),
  };
}

class SshTarget {
  readonly #settings: SshSettings;
  readonly #slots = new Slots(SESSIONS);
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #connecting: Promise<Connection | ConnectionFailure> | null = null;
  #connection: Connection | null = null;

  constructor(settings: SshSettings) {
    this.#settings = settings;
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const startedAt = performance.now();
    const running = this.#exec(request);
    this.#running.add(running);
    try {
      return { ...(await running), durationMs: performance.now() - startedAt };
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running]);
    this.#connection?.destroy();
  }

  async #exec(request: ExecRequest): Promise<Supervised> {
    const problem = requestProblem(request);
    if (problem !== null) return failed({ kind: 'cannot-spawn', detail: problem });
    const refusal = becomeProblem(request, this.#settings);
    if (refusal !== null) return failed(refusal);
    const signal = AbortSignal.any([this.#closing.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    const cancelled = untilAborted(signal);
    try {
      const connection = await Promise.race([this.#connect(), cancelled.promise]);
      if ('kind' in connection) return failed(connection);
      const release = await this.#slots.acquire(signal);
      if (release === null) return failed({ kind: 'cancelled' });
      try {
        return await execOn(connection, { ...request, signal });
      } finally {
        release();
      }
    } finally {
      cancelled.dispose();
    }
  }

  /** The one connection; callers that come while it is being made share it. */
  async #connect(): Promise<Connection | ConnectionFailure> {
    if (this.#connection !== null && this.#connection.lost() === null) return this.#connection;
    this.#connecting ??= connect(this.#settings, this.#closing.signal).finally(() => {
      this.#connecting = null;
    });
    const made = await this.#connecting;
    if (!('kind' in made)) this.#connection = made;
    return made;
  }
}

function failed(outcome: ExecOutcome): Supervised {
  return { outcome, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
}

function becomeProblem(request: ExecRequest, settings: SshSettings): ExecOutcome | null {
  if (request.become !== true || settings.become === 'sudo' || settings.user === 'root') return null;
  const detail = `the inventory says become: none for ${settings.name}, and ${settings.user} is not root`;
  return {
    kind: 'become-refused',
    detail,
    fix: `let the inventory say become: sudo or user: root for ${settings.name}`,
  };
}

function untilAborted(signal: AbortSignal): { promise: Promise<ExecOutcome>; dispose: () => void } {
  let onAbort = () => {};
  const promise = new Promise<ExecOutcome>((resolve) => {
    onAbort = () => resolve({ kind: 'cancelled' });
  });
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return { promise, dispose: () => signal.removeEventListener('abort', onAbort) };
}
