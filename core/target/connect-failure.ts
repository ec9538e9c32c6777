import { printable } from '../printable.js';
import { quote } from './quote.js';
import type { SshSettings } from './settings.js';
import type { IdentityProblem } from './ssh-identities.js';
import type { ConnectionFailure } from './target.js';

/** What is read of an error from a socket, from ssh2 or from node-ssh. */
interface Facts {
  readonly message: string;
  /** Of the system (ECONNREFUSED), or the reason of an SSH disconnect (RFC 4253, 11.1). */
  readonly code: string | number | undefined;
  /** Where ssh2 was: client-socket, client-timeout, client-authentication, handshake, protocol. */
  readonly level: string | undefined;
}

const UNREACHABLE = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
]);

/**
 * True where a new attempt may well succeed: the server hung up before the handshake was done. That is what sshd does
 * to connections beyond MaxStartups (sshd_config(5)), at random.
 */
export function worthRetrying(error: unknown, handshaken: boolean): boolean {
  const { message, code, level } = factsOf(error);
  if (handshaken) return false;
  // node-ssh says ETIMEDOUT of a connection that was merely closed.
  if (message === 'No response from server') return true;
  if (typeof code === 'number' || code === 'ECONNREFUSED' || UNREACHABLE.has(String(code))) return false;
  return level === undefined || !FINAL_LEVELS.has(level);
}

/** Stages at which ssh2 has an answer, and not just a connection that broke off. */
const FINAL_LEVELS = new Set(['handshake', 'client-timeout', 'client-authentication']);

/**
 * Says in the target's terms why there is no connection.
 * @param problems why keys were not offered: a key that could not be is mended before another is given to the host
 */
export function connectFailure(
  error: unknown,
  settings: SshSettings,
  problems: readonly IdentityProblem[],
): ConnectionFailure {
  const { message, code, level } = factsOf(error);
  const place = `${settings.address} port ${settings.port}`;
  const detail = printable(`${place}: ${message}`);
  if (code === 'ECONNREFUSED') {
    return { kind: 'refused', detail, fix: `check the port, and that sshd runs there: ${tryIt(settings)}` };
  }
  if (level === 'client-authentication' || /authentication/i.test(message)) {
    const tried = problems.length > 0 ? ` (${problems.map(({ reason }) => reason).join('; ')})` : '';
    const copy = `give ${settings.user} a key that the host accepts: ssh-copy-id -p ${settings.port} ${login(settings)}`;
    return {
      kind: 'authentication-failed',
      detail: printable(`${settings.user}@${place}: ${message}${tried}`),
      fix: printable(problems[0]?.fix ?? copy),
    };
  }
  return { kind: 'unreachable', detail, fix: unreachableFix(code, settings) };
}

function unreachableFix(code: Facts['code'], settings: SshSettings): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `give ${settings.name} an address in the inventory, or a HostName in ~/.ssh/config`;
  }
  return `check that the host is up and its address is right: ${tryIt(settings)}`;
}

function tryIt(settings: SshSettings): string {
  const jump = settings.jump === null ? '' : `-J ${quote([jumpSpec(settings.jump)])} `;
  return `ssh -v ${jump}-p ${settings.port} ${login(settings)}`;
}

/** A bastion as ssh -J takes it. */
function jumpSpec(jump: SshSettings): string {
  return `${jump.user}@${jump.address}:${jump.port}`;
}

function login(settings: SshSettings): string {
  return quote([`${settings.user}@${settings.address}`]);
}

function factsOf(error: unknown): Facts {
  // A name with several addresses fails with one error for each of them (net.connect, autoSelectFamily).
  const one = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
  if (!(one instanceof Error)) return { message: String(one), code: undefined, level: undefined };
  const { code, level } = one as Error & { code?: unknown; level?: unknown };
  return {
    message: one.message,
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    level: typeof level === 'string' ? level : undefined,
  };
}
