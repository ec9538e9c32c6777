import { type Authority, hostText, parseAuthority } from './authority.js';
import type { Head } from './head.js';
import type { DenyReason } from './reasons.js';

/** A request that may be decided on, or the reason why it may not. */
export type Request =
  | { readonly ok: true; readonly target: Authority; readonly path: string }
  | { readonly ok: false; readonly reason: DenyReason; readonly host: string; readonly port: number };

const HTTP_PORT = 80;
/** The scheme and the authority, which ends at the first of / ? # (RFC 3986, section 3.2). */
const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/s;
/** What node:http can send on; its parser lets DEL pass, its writer throws on it. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const PATH = /^[\u0021-\u0022\u0024-\u007e\u0080-\u00ff]*$/;

/** Values of a header field, by lower-case name. */
function fieldValues(fields: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const field = fields[index] ?? '';
    if (field.length === name.length && field.toLowerCase() === name) values.push(fields[index + 1] ?? '');
  }
  return values;
}

/** Reads target and Host of a request head. What one server could read otherwise than another is refused. */
export function readRequest(head: Head): Request {
  return head.method === 'CONNECT' ? readConnect(head) : readAbsolute(head);
}

const refuse = (reason: DenyReason, host: string, port = 0): Request => ({ ok: false, reason, host, port });

function readConnect(head: Head): Request {
  const authority = parseAuthority(head.target, null);
  if (!authority.ok) return refuse(authority.fault, head.target);
  const { host, port } = authority.value;
  const fault = hostFieldFault(head, authority.value, port, false);
  if (fault !== null) return refuse(fault, hostText(host), port);
  const hasBody =
    fieldValues(head.fields, 'transfer-encoding').length > 0 ||
    fieldValues(head.fields, 'content-length').some((length) => length !== '0');
  if (hasBody) return refuse('body-unexpected', hostText(host), port);
  return { ok: true, target: authority.value, path: '' };
}

function readAbsolute(head: Head): Request {
  const [, scheme = '', authorityText = '', rest = ''] = ABSOLUTE.exec(head.target) ?? [];
  if (scheme === '') return refuse('target-not-absolute', fieldValues(head.fields, 'host')[0] ?? '');
  if (scheme.toLowerCase() !== 'http') return refuse('scheme-unsupported', authorityText);
  const authority = parseAuthority(authorityText, HTTP_PORT);
  if (!authority.ok) return refuse(authority.fault, authorityText);
  const { host, port } = authority.value;
  const fault = hostFieldFault(head, authority.value, HTTP_PORT, head.version === '1.1');
  if (fault !== null) return refuse(fault, hostText(host), port);
  if (!PATH.test(rest) || !head.fields.every((text) => VALUE.test(text)))
    return refuse('request-malformed', hostText(host), port);
  return { ok: true, target: authority.value, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** RFC 9112, section 3.2: one Host at most, and the same as the target. CONNECT names its target once; Host may be absent. */
function hostFieldFault(
  head: Head,
  target: Authority,
  portWhereNoneNamed: number,
  required: boolean,
): DenyReason | null {
  const [value, ...more] = fieldValues(head.fields, 'host');
  if (more.length > 0) return 'host-repeated';
  if (value === undefined) return required ? 'host-missing' : null;
  const host = parseAuthority(value, portWhereNoneNamed);
  const same = host.ok && hostText(host.value.host) === hostText(target.host) && host.value.port === target.port;
  return same ? null : 'host-mismatch';
}
