import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/**
 * Names below this one belong to verification: the proxy pins its sinks there, and its unlisted name must stay unlisted
 * (`.invalid` never resolves, RFC 6761). No allowlist may speak of them.
 */
export const RESERVED_DOMAIN = 'watertight.invalid';

/** Ports, both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** What an entry without a port stands for. */
export const DEFAULT_PORTS: readonly PortRange[] = [
  { from: 80, to: 80 },
  { from: 443, to: 443 },
];

/** One entry of an allowlist, understood. */
export interface AllowPattern {
  /** `name`: exactly this host; `subdomains`: every name below it, not the name itself; `address`: written out as such. */
  readonly kind: 'name' | 'subdomains' | 'address';
  /** Lower-case ASCII (IDNA) without `*.`; an IPv6 address without brackets, in its shortest form. */
  readonly host: string;
  readonly ports: readonly PortRange[];
  /** The entry in its one canonical spelling. Holds only a-z 0-9 . - _ : [ ] and a leading `*`. */
  readonly canonical: string;
}

export type AllowPatternResult =
  | { readonly ok: true; readonly pattern: AllowPattern }
  | { readonly ok: false; readonly reason: string };

interface Refusal {
  readonly refused: string;
}
type HostPart = Pick<AllowPattern, 'kind' | 'host'>;

const refuse = (refused: string): Refusal => ({ refused });

/** What is never part of an entry, and why; the first that fits is said. */
const NOT_AN_ENTRY: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'a host name or an address, not an empty string'],
  [/[\s\p{Cc}\p{Cf}]/u, 'no spaces and no invisible characters'],
  [/:\/\//, 'a host without a scheme (write example.com, not https://example.com)'],
  [/@/, 'a host without user information'],
  [/[/?#\\]/, 'a host without a path (the proxy cannot see paths inside TLS)'],
  [/["'`;{}()<>|&$!%,=+^~]/, 'only letters, digits, dots, hyphens and underscores in a host name'],
];

/**
 * Reads one allowlist entry: `example.com`, `*.docs.example.org`, `192.0.2.7`, `[2001:db8::1]`, each with an optional
 * `:8443` or `:8000-8010`.
 *
 * @returns the pattern, or what was expected instead, in words that follow "expected".
 */
export function parseAllowPattern(entry: string): AllowPatternResult {
  for (const [shape, reason] of NOT_AN_ENTRY) if (shape.test(entry)) return { ok: false, reason };
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(entry);
  const plain = bracketed ?? /^([^:[\]]*)(?::([^:]*))?$/.exec(entry);
  if (!plain) return { ok: false, reason: 'host or host:port; an IPv6 address stands in brackets, [2001:db8::1]:443' };
  const host = bracketed ? readIpv6(plain[1] ?? '') : readHost(plain[1] ?? '');
  if ('refused' in host) return { ok: false, reason: host.refused };
  const ports = plain[2] === undefined ? DEFAULT_PORTS : readPorts(plain[2]);
  if ('refused' in ports) return { ok: false, reason: ports.refused };
  return { ok: true, pattern: { ...host, ports, canonical: canonicalOf(host, plain[2]) } };
}

function readIpv6(text: string): HostPart | Refusal {
  // A zone (fe80::1%eth0) has no meaning beyond its own link.
  if (!isIPv6(text) || text.includes('%')) return refuse('an IPv6 address without a zone between the brackets');
  return { kind: 'address', host: new URL(`http://[${text}]`).hostname.slice(1, -1) };
}

function readHost(text: string): HostPart | Refusal {
  if (text === '*') return refuse('a name; `*` alone would allow every host');
  const wildcard = text.startsWith('*.');
  const name = wildcard ? text.slice(2) : text;
  if (name.includes('*')) return refuse('`*.` at the beginning only, for every name below a domain');
  if (isIPv4(name)) {
    return wildcard ? refuse('a name after `*.`; an address has no subdomains') : { kind: 'address', host: name };
  }
  return readName(name, wildcard);
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

function readName(name: string, wildcard: boolean): HostPart | Refusal {
  const ascii = domainToASCII(name).toLowerCase();
  const labels = ascii.split('.');
  if (name.endsWith('.')) return refuse('a name without a dot at its end');
  if (!labels.every((label) => LABEL.test(label)) || ascii.length > 253) {
    return refuse('a host name of labels with 1 to 63 letters, digits or inner hyphens, 253 characters in all');
  }
  // Resolvers read 2130706433, 0x7f.1 and full-width digits as addresses (inet_aton(3)); WHATWG URL ends on the same test.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return refuse('an address written out in full, for example 192.0.2.7');
  }
  if (labels.length < 2) {
    return refuse(
      wildcard
        ? 'at least two labels after `*.`; one label would allow a whole top-level domain'
        : 'a name with a dot; what a single label means depends on the search list of the resolver',
    );
  }
  if (ascii === RESERVED_DOMAIN || ascii.endsWith(`.${RESERVED_DOMAIN}`)) {
    return refuse(`a name outside ${RESERVED_DOMAIN}, which verification keeps for itself`);
  }
  return { kind: wildcard ? 'subdomains' : 'name', host: ascii };
}

function readPorts(text: string): readonly PortRange[] | Refusal {
  const match = /^([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (!match || from > 65535 || to > 65535) return refuse('a port or a range of ports between 1 and 65535');
  return from <= to ? [{ from, to }] : refuse('a range of ports that begins with the lower one');
}

function canonicalOf(host: HostPart, port: string | undefined): string {
  const text = host.host.includes(':') ? `[${host.host}]` : host.host;
  return `${host.kind === 'subdomains' ? '*.' : ''}${text}${port === undefined ? '' : `:${port}`}`;
}
