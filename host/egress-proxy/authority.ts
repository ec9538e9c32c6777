import { isIPv4 } from 'node:net';
import { domainToASCII } from 'node:url';
import { canonicalAddress } from './address-bytes.js';

/** A host in its canonical form: the form in which policies are compared, addresses connected to and lines written. */
export type CanonicalHost =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'address'; readonly address: string };

export type HostFault = 'name-invalid' | 'address-spelling';
export type AuthorityFault = HostFault | 'authority-invalid' | 'authority-userinfo' | 'port-missing' | 'port-invalid';

export type Parsed<T, F> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: F };

export interface Authority {
  readonly host: CanonicalHost;
  readonly port: number;
}

/** Canonical already and surely a name: lower-case letters, digits, inner hyphens; the last label starts with a letter. */
const PLAIN_NAME =
  /^(?!.*(?:^|\.)xn--)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** ASCII that no host name holds; %, / and @ would also change how URL code reads the rest. */
const FORBIDDEN_ASCII = /[\u0000-\u002c/:-@[-^`{-\u007f]/;
/** inet_aton(3) reads decimal, octal and hex parts; the WHATWG URL standard looks at the last label to tell. */
const NUMBER_LABEL = /^(?:\d+|0x[0-9a-f]*)$/;
const MAX_NAME = 253;

const fault = <F extends string>(reason: F): { readonly ok: false; readonly fault: F } => ({
  ok: false,
  fault: reason,
});
const address = (text: string): Parsed<CanonicalHost, HostFault> => ({
  ok: true,
  value: { kind: 'address', address: text },
});

/** Host part of an entry or an authority, in Unicode text, IPv6 in brackets; one trailing dot is dropped. */
export function canonicalHost(text: string): Parsed<CanonicalHost, HostFault> {
  if (text.length <= MAX_NAME && PLAIN_NAME.test(text)) return { ok: true, value: { kind: 'name', name: text } };
  if (text.startsWith('[')) return canonicalIpv6(text);
  if (isIPv4(text)) return address(text);
  if (text === '' || FORBIDDEN_ASCII.test(text)) return fault('name-invalid');
  const ascii = withoutTrailingDot(domainToASCII(text));
  if (isIPv4(ascii)) return fault('address-spelling');
  const labels = ascii.split('.');
  // The standard's own parser fails on most of these (0x7f.08, 1.2.3.4.5): a number at the end is never a name.
  if (NUMBER_LABEL.test(lastLabel(withoutTrailingDot(text).toLowerCase()))) return fault('address-spelling');
  if (ascii.length > MAX_NAME || !labels.every((label) => LABEL.test(label))) return fault('name-invalid');
  return { ok: true, value: { kind: 'name', name: ascii } };
}

function canonicalIpv6(text: string): Parsed<CanonicalHost, HostFault> {
  const inner = text.endsWith(']') ? text.slice(1, -1) : '';
  // A zone (fe80::1%eth0) names an interface of this host: not for others to choose.
  const canonical = inner.includes(':') ? canonicalAddress(inner) : null;
  return canonical === null ? fault('name-invalid') : address(canonical);
}

function withoutTrailingDot(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

function lastLabel(text: string): string {
  return text.slice(text.lastIndexOf('.') + 1);
}

/**
 * Authority as it came over the wire: `host:port`, `[v6]:port`, or without a port where there is a default.
 *
 * @param text one character a byte (latin1), as HTTP heads are read
 * @param defaultPort port where none is written; null where one must be
 */
export function parseAuthority(text: string, defaultPort: number | null): Parsed<Authority, AuthorityFault> {
  if (text.includes('@')) return fault('authority-userinfo');
  const split = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/s.exec(text);
  if (split === null) return fault('authority-invalid');
  const [, hostText = '', portText] = split;
  if (hostText === '') return fault('authority-invalid');
  const unicode = decodeWire(hostText);
  if (unicode === null) return fault('name-invalid');
  const host = canonicalHost(unicode);
  if (!host.ok) return host;
  if (portText === undefined) {
    return defaultPort === null ? fault('port-missing') : { ok: true, value: { host: host.value, port: defaultPort } };
  }
  const port = parsePort(portText);
  return port === null ? fault('port-invalid') : { ok: true, value: { host: host.value, port } };
}

/** Port in plain decimal, 1 to 65535; null for anything else. */
export function parsePort(text: string): number | null {
  if (!/^[1-9]\d{0,4}$/.test(text)) return null;
  const port = Number(text);
  return port <= 65535 ? port : null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeWire(latin1: string): string | null {
  if (!/[\u0080-\uffff]/.test(latin1)) return latin1;
  try {
    return utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return null;
  }
}

/** The host as people and lines write it: names as they are, addresses without brackets. */
export function hostText(host: CanonicalHost): string {
  return host.kind === 'name' ? host.name : host.address;
}
