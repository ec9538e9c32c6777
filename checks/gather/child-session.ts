import { PassThrough } from 'node:stream';
import { lastLines } from '../../core/last-lines.js';
import type { Target } from '../../core/target/target.js';
import childProgram from '../../host/confined-child/child.py';
import type { Attempt, Observation } from '../attempt.js';
import { parseChildLine } from './child-lines.js';

/** How long a child may live in all, and how long it may take over a group beyond the attempts' own deadlines. */
const LIFE_MS = 60_000;
const GRACE_MS = 5_000;

/** `-I`: neither the environment nor a file beside the program changes what Python loads. */
const CHILD_COMMAND = ['/usr/bin/python3', '-I', '-c', childProgram] as const;

/** A child program that makes attempts, one group after another. */
export interface ChildSession {
  /** Process id on this host, as the child says it; null where it said nothing. Only used to look at it from outside. */
  readonly pid: number | null;
  /** Why there is no child, where there is none. */
  readonly problem: string | null;
  /** Runs a group at once. Attempts without an observation in the answer were never made, as far as can be told. */
  run(attempts: readonly Attempt[], onListening?: (id: string, port: number) => void): Promise<readonly Observation[]>;
  close(): Promise<void>;
}

interface Pending {
  readonly settle: (observations: readonly Observation[]) => void;
  readonly onListening: ((id: string, port: number) => void) | undefined;
}

/**
 * Starts a child by the given command (the production launcher in front, or nothing for the control).
 * Never throws: a child that did not start says so in `problem` and observes nothing.
 */
export async function startChild(local: Target, prefix: readonly string[]): Promise<ChildSession> {
  const input = new PassThrough();
  let pending: Pending | null = null;
  let announce: (pid: number | null) => void = () => undefined;
  const announced = new Promise<number | null>((resolve) => {
    announce = resolve;
  });
  const settle = (observations: readonly Observation[]) => {
    pending?.settle(observations);
    pending = null;
  };
  const onLine = (line: string) => {
    const said = parseChildLine(line);
    if (said.kind === 'identity') announce(said.pid);
    else if (said.kind === 'listening') pending?.onListening?.(said.id, said.port);
    else if (said.kind === 'observations') settle(said.observations);
  };
  const command = [...prefix, ...CHILD_COMMAND] as unknown as [string, ...string[]];
  const over = local.exec({ command, input, deadlineMs: LIFE_MS, onLine }).then((result) => {
    announce(null);
    settle([]);
    const said = lastLines(result.stderr.toString('utf8'), 1);
    return said || `the child ended (${result.outcome.kind})`;
  });
  const pid = await announced;
  return {
    pid,
    problem: pid === null ? await over : null,
    run: (attempts, onListening) =>
      new Promise((resolve) => {
        const longest = Math.max(0, ...attempts.map(({ deadline }) => deadline));
        const timer = setTimeout(() => settle([]), longest + GRACE_MS);
        pending = {
          onListening,
          settle: (observations) => {
            clearTimeout(timer);
            resolve(observations);
          },
        };
        if (pid === null || attempts.length === 0) settle([]);
        else input.write(`${JSON.stringify({ attempts })}\n`);
      }),
    close: async () => {
      input.end();
      await over;
    },
  };
}
