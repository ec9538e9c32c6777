import { isAbsolute, join } from 'node:path';
import { Failure, UsageFailure } from '../failure.js';
import { EXIT } from '../outcome.js';
import type { SshHostEntry } from './settings.js';

const HOP =
  /^(?:ssh:\/\/)?(?:(?<user>[^@\s]+)@)?(?:\[(?<bracketed>[^\]\s]+)\]|(?<plain>[^:[\]\s]+))(?::(?<port>\d+))?\/?$/;

/** Reads one host of a ProxyJump list. @throws UsageFailure where it is none */
export function parseHop(text: string, target: string): SshHostEntry {
  const groups = HOP.exec(text)?.groups;
  const name = groups?.bracketed ?? groups?.plain;
  if (groups === undefined || name === undefined) {
    throw new UsageFailure(`${target}: ${JSON.stringify(text)} is not a jump host`, 'write it as [user@]host[:port]');
  }
  const port = portOf(groups.port, target);
  return {
    name,
    ...(groups.user === undefined ? {} : { user: groups.user }),
    ...(port === undefined ? {} : { port }),
  };
}

/** Reads a port. @throws Failure where it is none */
export function portOf(text: string | undefined, host: string): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65535) return port;
  throw new Failure(`${host}: ${JSON.stringify(text)} is not a port`, EXIT.configuration);
}

/** Replaces the percent tokens of ssh_config(5), TOKENS, that are known; others stay as they are. */
export function expand(text: string | undefined, tokens: Readonly<Record<string, string>>): string | undefined {
  return text?.replace(/%(.)/g, (whole, token: string) => (token === '%' ? '%' : (tokens[token] ?? whole)));
}

/** The path that a name in a configuration stands for. */
export function absolute(path: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  // ssh_config(5) takes a relative name from the folder in which ssh was called.
  return isAbsolute(path) ? path : join(process.cwd(), path);
}
