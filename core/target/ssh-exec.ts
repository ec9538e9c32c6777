import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientChannel } from 'ssh2';
import { newNonce } from '../nonce.js';
import { printable } from '../printable.js';
import type { Connection } from './connection.js';
import { Cutoff } from './cutoff.js';
import { endRequest } from './end-request.js';
import { Markers } from './markers.js';
import { quote } from './quote.js';
import { staged } from './stages.js';
import { type Running, type Supervised, supervise } from './supervise.js';
import type { ExecOutcome, ExecRequest } from './target.js';

/** Milliseconds for a channel to close once its program's group is gone. */
const CLOSING_MS = 500;
/** Milliseconds between attempts to open a session while the server has no room (MaxSessions in sshd_config(5)). */
const REOPEN_MS = 100;

/** Runs one request on a connection that stands. Never throws, never hangs beyond the deadline and its grace. */
export function execOn(connection: Connection, request: ExecRequest): Promise<Supervised> {
  return run(connection, request, endGroup);
}

/** `onAnswer` is called when the host answers for the first time, whatever it says. */
async function run(
  connection: Connection,
  request: ExecRequest,
  ending: Ending,
  onAnswer = () => {},
): Promise<Supervised> {
  const nonce = newNonce('wt');
  const markers = new Markers(nonce);
  const cutoff = new Cutoff(request);
  const startedAt = performance.now();
  try {
    const line = quote(staged(request, nonce));
    const session = await Promise.race([openSession(connection, line, cutoff, onAnswer), cutoff.reached]);
    if ('kind' in session) return { outcome: session, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
    const running = runningOn(session, () => ending(connection, request, markers, nonce));
    const result = await supervise(running, request, cutoff, markers);
    const elapsedMs = performance.now() - startedAt;
    return { ...result, ...markers.interpret(request, result.outcome, result.stderr, elapsedMs) };
  } finally {
    cutoff.dispose();
  }
}

/** Opens a session with the command line in it; waits where the server has no room for one more. */
async function openSession(
  connection: Connection,
  line: string,
  cutoff: Cutoff,
  onAnswer: () => void,
): Promise<Session | ExecOutcome> {
  let given = false;
  cutoff.reached.then(() => {
    given = true;
  });
  for (;;) {
    const opened = await tryOpen(connection, line);
    onAnswer();
    if (!(opened instanceof Error)) {
      if (given) opened.channel.close();
      return opened;
    }
    const lost = connection.lost();
    if (lost !== null) return { kind: 'lost-connection', detail: lost };
    if (!/channel open failure/i.test(opened.message)) {
      return { kind: 'cannot-spawn', detail: printable(opened.message) };
    }
    if (given) return { kind: 'cancelled' };
    await sleep(REOPEN_MS);
  }
}

interface Session {
  readonly channel: ClientChannel;
  readonly ended: Promise<ExecOutcome>;
}

function tryOpen(connection: Connection, line: string): Promise<Session | Error> {
  return new Promise((resolve) => {
    try {
      connection.client.exec(line, (error, channel) => {
        // Listened to at once: a short program's end comes in the same packet as the news of its start.
        resolve(error ?? { channel, ended: endOf(connection, channel) });
      });
    } catch (error) {
      // ssh2 throws where the connection is gone.
      resolve(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function runningOn({ channel, ended }: Session, endGroup: () => Promise<void>): Running {
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr,
    ended,
    end: async () => {
      await endGroup();
      await Promise.race([ended, sleep(CLOSING_MS, undefined, { ref: false })]);
    },
    abandon: () => channel.close(),
  };
}

/**
 * The end of a session. Without an exit status, or cut off before the server has closed it, it tells nothing about the
 * program: ssh2 reports both as a close like any other.
 */
function endOf(connection: Connection, channel: ClientChannel): Promise<ExecOutcome> {
  let exit: ExecOutcome | null = null;
  channel.on('exit', (status: number | null, signal?: string) => {
    exit = status === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', status };
  });
  // ssh2 waits for the end of stdout alone before it says that the session is closed.
  const closed = [channel, channel.stderr].map((stream) => new Promise((resolve) => stream.once('close', resolve)));
  return Promise.all(closed).then(() => {
    const detail = connection.lost();
    if (detail !== null) return { kind: 'lost-connection', detail };
    return exit ?? { kind: 'lost-connection', detail: 'the session was closed without an exit status' };
  });
}

type Ending = (connection: Connection, request: ExecRequest, markers: Markers, nonce: string) => Promise<void>;

/** Ends the program's group through a second session. A host that does not answer has a deadline of its own. */
async function endGroup(connection: Connection, request: ExecRequest, markers: Markers, nonce: string): Promise<void> {
  if (markers.group === null || connection.lost() !== null) return;
  const ending = endRequest(markers.group, nonce, request.become === true);
  // What ends a program is not ended in its turn, but left to its deadline on the host.
  let answered = false;
  const { outcome } = await run(
    connection,
    ending,
    async () => {},
    () => {
      answered = true;
    },
  );
  // Whoever else waits on this connection would wait in vain.
  if (outcome.kind === 'timed-out' && !answered) connection.destroy();
}
