import type { Duplex } from 'node:stream';
import pRetry from 'p-retry';
import { messageOf } from '../message-of.js';
import { printable } from '../printable.js';
import { connectFailure } from './connect-failure.js';
import { attempt, type Connection, HungUp, Refusal } from './handshake.js';
import type { SshSettings } from './settings.js';
import type { ConnectionFailure } from './target.js';

export type { Connection } from './handshake.js';

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
      failed(messageOf(error));
    }
  });
}
