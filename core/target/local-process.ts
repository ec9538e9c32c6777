import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { adopt, endGroup, release } from './process-group.js';
import type { Running } from './supervise.js';
import type { ExecOutcome } from './target.js';

type CannotSpawn = Extract<ExecOutcome, { kind: 'cannot-spawn' }>;

/** Starts a program of this machine in a process group of its own. */
export async function spawnLocal(
  command: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
): Promise<Running | CannotSpawn> {
  const [file, ...args] = command;
  const child = execa(file, args, { ...OPTIONS, env: environment });
  // execa settles only when nobody holds the pipes any more, which may be never: it is asked for nothing but the start.
  const settled = child.then((result) => result);
  const { pid } = child;
  if (pid === undefined) {
    const result = await settled;
    return { kind: 'cannot-spawn', detail: result.originalMessage ?? `${file} did not start` };
  }
  adopt(pid);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended: endOf(child).finally(() => release(pid)),
    end: () => endGroup(pid),
    abandon: () => {
      child.stdin.destroy();
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      release(pid);
    },
  };
}

const OPTIONS = {
  // A group of its own (setsid), so that it can be ended with all that it started.
  detached: true,
  cleanup: false,
  reject: false,
  buffer: false,
  stripFinalNewline: false,
  encoding: 'buffer',
  stdin: 'pipe',
  stdout: 'pipe',
  stderr: 'pipe',
} as const;

interface Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  once(event: 'close', listener: (status: number | null, signal: NodeJS.Signals | null) => void): unknown;
}

/** Resolves at `close`: the program has ended and both its streams are read to the end. */
function endOf(child: Child): Promise<ExecOutcome> {
  return new Promise((resolve) => {
    child.once('close', (status, signal) => {
      if (signal !== null) resolve({ kind: 'signalled', signal });
      else resolve({ kind: 'exited', status: status ?? -1 });
    });
  });
}
