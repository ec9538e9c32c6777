import { type CanonicalHost, canonicalHost } from './authority.js';
import type { Hello } from './client-hello.js';
import type { Policy } from './policy.js';
import type { DenyReason, PassReason } from './reasons.js';

/** What is wrong with a hello. */
export type SniFault = DenyReason & ('sni-mismatch' | 'sni-absent' | 'sni-unreadable');

/** What report mode calls it. */
export const REPORTED_SNI: Readonly<Record<SniFault, PassReason>> = {
  'sni-mismatch': 'report-sni-mismatch',
  'sni-absent': 'report-sni-absent',
  'sni-unreadable': 'report-sni-unreadable',
};

/** Holds a hello against the host of its CONNECT; null where they agree. A hello to an address names none (RFC 6066). */
export function sniFault(hello: Hello, host: CanonicalHost): SniFault | null {
  switch (hello.kind) {
    case 'unreadable':
      return 'sni-unreadable';
    case 'absent':
      return host.kind === 'address' ? null : 'sni-absent';
    case 'name': {
      const named = canonicalHost(hello.name);
      if (!named.ok) return 'sni-unreadable';
      const agrees = named.value.kind === 'name' && host.kind === 'name' && named.value.name === host.name;
      return agrees ? null : 'sni-mismatch';
    }
  }
}

/** Whether a tunnel's hello is looked at, and what for. Pinned names are verification's own, and speak no TLS. */
export function sniModeOf({ sni, mode }: Pick<Policy, 'sni' | 'mode'>, reason: PassReason): Policy['sni'] {
  if (reason === 'pinned') return 'off';
  return sni === 'enforce' && mode === 'report' ? 'report' : sni;
}
