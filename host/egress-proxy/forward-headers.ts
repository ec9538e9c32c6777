import { type Authority, hostText } from './authority.js';

/** Fields that speak of one connection only (RFC 9110, section 7.6.1), and those meant for this proxy. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fields that may pass, as names and values in turn: no hop-by-hop ones, none that Connection names. */
function endToEnd(fields: readonly string[], without: ReadonlySet<string> = new Set()): string[] {
  const named = new Set<string>();
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index]?.toLowerCase() !== 'connection') continue;
    for (const name of (fields[index + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  }
  // Framing is not the client's to take away by naming it in Connection.
  named.delete('content-length');
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    if (HOP_BY_HOP.has(name) || named.has(name) || without.has(name)) continue;
    kept.push(fields[index] ?? '', fields[index + 1] ?? '');
  }
  return kept;
}

const HOST: ReadonlySet<string> = new Set(['host']);

/** Fields of the request to the far side. Host is written anew from the target (RFC 9112, section 3.2.2). */
export function requestFields(fields: readonly string[], target: Authority, chunked: boolean): string[] {
  const host = hostText(target.host);
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const kept = endToEnd(fields, HOST);
  kept.unshift('Host', target.port === 80 ? bracketed : `${bracketed}:${target.port}`);
  if (chunked) kept.push('Transfer-Encoding', 'chunked');
  kept.push('Via', '1.1 watertight', 'Connection', 'close');
  return kept;
}

/** Fields of the answer to the client. */
export function responseFields(fields: readonly string[]): string[] {
  return [...endToEnd(fields), 'Via', '1.1 watertight'];
}
