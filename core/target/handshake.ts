import type { Duplex } from 'node:stream';
import { NodeSSH } from 'node-ssh';
import type { Client } from 'ssh2';
import { messageOf } from '../message-of.js';
import { printable } from '../printable.js';
import { connectFailure, worthRetrying } from './connect-failure.js';
import { type HostKeyCheck, hostKeyCheck } from './host-key-check.js';
import type { SshSettings } from './settings.js';
import { loadIdentities } from './ssh-identities.js';
import type { ConnectionFailure } from './target.js';

/** A connection that stands, and its bastion's if it goes through one. */
export interface Connection {
  readonly client: Client;
  /** Why it does not stand any more; null while it does. */
  lost(): string | null;
  /** Cuts it at once. */
  destroy(): void;
}

/** An answer that a new attempt would not change. */
export class Refusal extends Error {
  constructor(readonly failure: ConnectionFailure) {
    super(failure.kind);
  }
}

/** The server hung up before the handshake was done. */
export class HungUp extends Error {}

/** Notices a host that has gone silent within 20 s; a deadline is usually sooner. */
const KEEPALIVE = { keepaliveInterval: 5000, keepaliveCountMax: 3 };

/** One attempt. @throws Refusal where the answer is final, HungUp where it is worth another attempt. */
export async function attempt(
  settings: SshSettings,
  timeoutMs: number,
  signal: AbortSignal,
  socket: Duplex | null,
): Promise<Connection> {
  signal.throwIfAborted();
  const check = await hostKeyCheck(settings).catch((error: unknown) => {
    throw new Refusal(unchecked(error));
  });
  const identities = await loadIdentities(settings);
  const verdict: { refusal: ConnectionFailure | null } = { refusal: null };
  let handshaken = false;
  const ssh = new NodeSSH();
  const connecting = ssh.connect({
    ...whereTo(settings, socket),
    authHandler: [...identities.methods],
    algorithms: { serverHostKey: [...check.algorithms] },
    hostVerifier: verifierOf(check, (refusal) => {
      verdict.refusal = refusal;
    }),
    readyTimeout: timeoutMs,
    ...KEEPALIVE,
  });
  const client = ssh.connection;
  if (client === null) throw await connecting.catch((error: unknown) => error);
  // Every exec is a few small packets back and forth: with Nagle's algorithm each costs a delayed acknowledgement (40 ms).
  client.once('connect', () => client.setNoDelay(true));
  client.once('handshake', () => {
    handshaken = true;
  });
  const connection = watch(client);
  const giveUp = () => connection.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await connecting;
    return connection;
  } catch (error) {
    connection.destroy();
    if (verdict.refusal !== null) throw new Refusal(verdict.refusal);
    if (worthRetrying(error, handshaken)) throw new HungUp(messageOf(error));
    throw new Refusal(connectFailure(error, settings, identities.problems));
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function whereTo({ address, port, user }: SshSettings, socket: Duplex | null) {
  return { host: address, port, username: user, ...(socket === null ? {} : { sock: socket }) };
}

/** What ssh2 asks about the host's key. @param answered is told why it was refused, or null, before ssh2 goes on */
function verifierOf(check: HostKeyCheck, answered: (refusal: ConnectionFailure | null) => void) {
  return (key: Buffer, verify: (accepted: boolean) => void): void => {
    const answer = (refusal: ConnectionFailure | null): void => {
      answered(refusal);
      verify(refusal === null);
    };
    check.judge(key).then(answer, (error: unknown) => answer(unchecked(error)));
  };
}

/** A key that could not be compared with known_hosts is not a known one. */
function unchecked(error: unknown): ConnectionFailure {
  const reason = printable(messageOf(error));
  return { kind: 'host-key-unknown', offered: 'a key that could not be checked', fix: `mend this first: ${reason}` };
}

/**
 * Listens for errors from the first moment to the last: node-ssh takes its own listener off at `ready`, and a reset
 * after that would be an uncaught exception.
 */
function watch(client: Client): Connection {
  let lost: string | null = null;
  client.on('error', (error) => {
    lost ??= printable(error.message);
  });
  client.on('close', () => {
    lost ??= 'the connection was closed';
  });
  client.on('end', () => {
    lost ??= 'the host closed the connection';
  });
  return { client, lost: () => lost, destroy: () => client.destroy() };
}
