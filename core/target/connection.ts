import type { Duplex } from 'node:stream';
import { NodeSSH } from 'node-ssh';
import pRetry from 'p-retry';
import type { Client } from 'ssh2';
import { printable } from '../printable.js';
import { connectFailure, worthRetrying } from './connect-failure.js';
import { hostKeyCheck } from './host-key-check.js';
import { loadIdentities } from './ssh-identities.js';
import type { SshSettings } from './ssh-settings.js';
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
class Refusal extends Error {
  constructor(readonly failure: ConnectionFailure) {
    super(failure.kind);
  }
}

/** Notices a host that has gone silent within 20 s; a deadline is usually sooner. */
const KEEPALIVE = { keepaliveInterval: 5000, keepaliveCountMax: 3 };

/** sshd drops at random beyond MaxStartups (30 % at first): so the attempts have to spread out. */
const RETRIES = { retries: 12, minTimeout: 150, maxTimeout: 1500, factor: 1.5, randomize: true };

/** Connects, through bastions where the settings say so. Never throws. `signal` gives up. */
export async function connect(settings: SshSettings, signal: AbortSignal): Promise<Connection | ConnectionFailure> {
  const until = Date.now() + settings.connectTimeoutMs;
  try {
    if (settings.jump === null) return await attempts(settings, until, signal, null);
    const bastion = await connect(settings.jump, signal);
    if ('kind' in bastion) return bastion;
    try {
      const connection = await attempts(settings, until, signal, bastion);
      return {
        ...connection,
        lost: () => connection.lost() ?? bastion.lost(),
        destroy: () => {
          connection.destroy();
          bastion.destroy();
        },
      };
    } catch (error) {
      bastion.destroy();
      throw error;
    }
  } catch (error) {
    return error instanceof Refusal ? error.failure : connectFailure(error, settings, []);
  }
}

function attempts(
  settings: SshSettings,
  until: number,
  signal: AbortSignal,
  bastion: Connection | null,
): Promise<Connection> {
  return pRetry(
    async () => {
      const socket = bastion === null ? null : await throughBastion(bastion, settings, until - Date.now());
      return attempt(settings, Math.max(until - Date.now(), 1), signal, socket);
    },
    {
      ...RETRIES,
      signal,
      maxRetryTime: settings.connectTimeoutMs,
      shouldRetry: ({ error }) => error instanceof HungUp && Date.now() < until,
    },
  );
}

/** The server hung up before the handshake was done. */
class HungUp extends Error {}

/** One attempt. @throws Refusal where the answer is final, HungUp where it is worth another attempt. */
async function attempt(
  settings: SshSettings,
  timeoutMs: number,
  signal: AbortSignal,
  socket: Duplex | null,
): Promise<Connection> {
  signal.throwIfAborted();
  const check = await hostKeyCheck(settings);
  const identities = await loadIdentities(settings);
  const verdict: { refusal: ConnectionFailure | null } = { refusal: null };
  let handshaken = false;
  const ssh = new NodeSSH();
  const connecting = ssh.connect({
    host: settings.address,
    port: settings.port,
    username: settings.user,
    authHandler: [...identities.methods],
    algorithms: { serverHostKey: [...check.algorithms] },
    hostVerifier: (key: Buffer, verify: (accepted: boolean) => void) => {
      check.judge(key).then(
        (failure) => {
          verdict.refusal = failure;
          verify(failure === null);
        },
        (error: unknown) => {
          verdict.refusal = connectFailure(error, settings, []);
          verify(false);
        },
      );
    },
    readyTimeout: timeoutMs,
    ...KEEPALIVE,
    ...(socket === null ? {} : { sock: socket }),
  });
  const client = ssh.connection;
  if (client === null) throw new Error('node-ssh made no client');
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
    if (worthRetrying(error, handshaken)) throw new HungUp(error instanceof Error ? error.message : String(error));
    throw new Refusal(connectFailure(error, settings, identities.problems));
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
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

/** A TCP connection from the bastion to the host (direct-tcpip, RFC 4254, 7.2). */
function throughBastion(bastion: Connection, settings: SshSettings, timeoutMs: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const failed = (message: string) => {
      clearTimeout(timer);
      const detail = printable(`from the bastion to ${settings.address} port ${settings.port}: ${message}`);
      const fix = 'check the address, and that the bastion may forward to it (AllowTcpForwarding in sshd_config)';
      reject(new Refusal({ kind: /refused/i.test(message) ? 'refused' : 'unreachable', detail, fix }));
    };
    const timer = setTimeout(() => failed('no answer'), timeoutMs);
    try {
      bastion.client.forwardOut('127.0.0.1', 0, settings.address, settings.port, (error, channel) => {
        clearTimeout(timer);
        if (error) failed(error.message);
        else resolve(channel);
      });
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
    }
  });
}
