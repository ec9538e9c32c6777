import { createHash } from 'node:crypto';
import { entriesFor, type KnownHost, keyType } from './known-hosts.js';

/** What known_hosts files say about a host's key. */
export type KeyVerdict =
  | { readonly kind: 'known' }
  | { readonly kind: 'unknown' }
  /** The host is vouched for by a certificate authority alone, and ssh2 cannot check host certificates. */
  | { readonly kind: 'authority-only'; readonly place: string }
  | { readonly kind: 'changed'; readonly expected: readonly KnownHost[] }
  | { readonly kind: 'revoked'; readonly place: string };

const TYPE_NAMES: Readonly<Record<string, string>> = {
  'ssh-ed25519': 'ED25519',
  'ssh-rsa': 'RSA',
  'ssh-dss': 'DSA',
  'ecdsa-sha2-nistp256': 'ECDSA',
  'ecdsa-sha2-nistp384': 'ECDSA',
  'ecdsa-sha2-nistp521': 'ECDSA',
};

/** A key's fingerprint as ssh-keygen -l writes it, for example `SHA256:… (ED25519)`. */
export function fingerprint(key: Buffer): string {
  const digest = createHash('sha256').update(key).digest('base64').replace(/=+$/, '');
  const type = keyType(key);
  return `SHA256:${digest} (${TYPE_NAMES[type] ?? (type || 'unknown type')})`;
}

/** Signature algorithms by key type, best first. SHA-1 (`ssh-rsa` as a signature, RFC 8332) is left out. */
const ALGORITHMS = [
  { type: 'ssh-ed25519', algorithms: ['ssh-ed25519'] },
  { type: 'ecdsa-sha2-nistp256', algorithms: ['ecdsa-sha2-nistp256'] },
  { type: 'ecdsa-sha2-nistp384', algorithms: ['ecdsa-sha2-nistp384'] },
  { type: 'ecdsa-sha2-nistp521', algorithms: ['ecdsa-sha2-nistp521'] },
  { type: 'ssh-rsa', algorithms: ['rsa-sha2-512', 'rsa-sha2-256'] },
] as const;

const OFFERABLE: ReadonlySet<string> = new Set(ALGORITHMS.map(({ type }) => type));

export type HostKeyAlgorithm = (typeof ALGORITHMS)[number]['algorithms'][number];

/** Algorithms to offer, those first for which a key of the host is known: otherwise it may well offer another one. */
export function hostKeyAlgorithms(entries: readonly KnownHost[], name: string): HostKeyAlgorithm[] {
  const known = new Set(entriesFor(entries, name).flatMap((entry) => (entry.marker === 'none' ? [entry.type] : [])));
  const preferred = ALGORITHMS.filter(({ type }) => known.has(type));
  const others = ALGORITHMS.filter(({ type }) => !known.has(type));
  return [...preferred, ...others].flatMap(({ algorithms }) => [...algorithms]);
}

/**
 * Judges the key that a host offers. `name` is from {@link knownHostsName}.
 *
 * A host that is known by keys of other types only has changed as well: those types are preferred in the handshake, so
 * it would have offered one of them. OpenSSH calls it new, and `accept-new` would let it in.
 */
export function judgeKey(entries: readonly KnownHost[], name: string, key: Buffer): KeyVerdict {
  const speaking = entriesFor(entries, name);
  const revoked = speaking.find((entry) => entry.marker === 'revoked' && entry.key.equals(key));
  if (revoked !== undefined) return { kind: 'revoked', place: revoked.place };
  // A key of a type that is never offered says nothing about those that are.
  const plain = speaking.filter((entry) => entry.marker === 'none' && OFFERABLE.has(entry.type));
  if (plain.some((entry) => entry.key.equals(key))) return { kind: 'known' };
  if (plain.length > 0) return { kind: 'changed', expected: plain };
  const authority = speaking.find((entry) => entry.marker === 'cert-authority');
  if (authority !== undefined) return { kind: 'authority-only', place: authority.place };
  return { kind: 'unknown' };
}
