import { canonicalHost, type Parsed } from './authority.js';
import { type PortRange, parsePorts } from './ports.js';

/** One entry of an allowlist or a denylist. */
export interface PolicyEntry {
  /** As it was written. */
  readonly text: string;
  /** `exact`: this name or address. `below`: any name under it, at any depth, and not the name itself. */
  readonly match: 'exact' | 'below';
  /** Canonical name or address. */
  readonly host: string;
  readonly kind: 'name' | 'address';
  /** null where the entry names none. */
  readonly ports: readonly PortRange[] | null;
}

const SHAPE = /^(\*\.)?(\[[^[\]]*\]|[^:[\]*]+)(?::([0-9-]+))?$/;

/**
 * Reads one entry: `example.com`, `*.example.org`, `api.example.net:8443`, `host:8000-8010`, `93.184.216.34`, `[2606::1]:443`.
 * The fault is what was expected instead, for a person.
 */
export function parseEntry(text: string): Parsed<PolicyEntry, string> {
  const [, wildcard, hostText = '', portText] = SHAPE.exec(text) ?? [];
  if (hostText === '') return { ok: false, fault: 'a host name, *.name, or an address (IPv6 in brackets), then :port' };
  const host = canonicalHost(hostText);
  if (!host.ok) {
    const fault = host.fault === 'address-spelling' ? 'an address in plain dotted decimal' : 'a valid host name';
    return { ok: false, fault };
  }
  if (wildcard !== undefined && host.value.kind === 'address') return { ok: false, fault: 'a host name after *.' };
  const ports = portText === undefined ? null : parsePorts(portText);
  if (portText !== undefined && ports === null) return { ok: false, fault: 'a port or a range of ports, 1 to 65535' };
  return {
    ok: true,
    value: {
      text,
      match: wildcard === undefined ? 'exact' : 'below',
      host: host.value.kind === 'name' ? host.value.name : host.value.address,
      kind: host.value.kind,
      ports,
    },
  };
}
