import { createHmac, timingSafeEqual } from 'node:crypto';

/** One entry of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export interface KnownHost {
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** Comma-separated patterns, or one hashed name. */
  readonly names: string;
  readonly type: string;
  readonly key: Buffer;
  /** Where it stands, as FILE:LINE. */
  readonly place: string;
}

/** Parses a known_hosts file. Lines that it cannot read are left out, as OpenSSH does. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const entry = parseLine(line.trim(), `${file}:${index + 1}`);
    return entry === null ? [] : [entry];
  });
}

const MARKERS = { '@revoked': 'revoked', '@cert-authority': 'cert-authority' } as const;

function parseLine(line: string, place: string): KnownHost | null {
  if (line === '' || line.startsWith('#')) return null;
  const fields = line.split(/[ \t]+/);
  let marker: KnownHost['marker'] = 'none';
  if (fields[0]?.startsWith('@')) {
    const known = MARKERS[fields.shift() as keyof typeof MARKERS];
    if (known === undefined) return null;
    marker = known;
  }
  const [names, type, base64] = fields;
  if (names === undefined || type === undefined || base64 === undefined) return null;
  const key = Buffer.from(base64, 'base64');
  // The blob repeats the type (RFC 4253, 6.6); a line where they differ is broken.
  return keyType(key) === type ? { marker, names, type, key, place } : null;
}

/** The algorithm named in a public key blob: a length of four bytes, then the name. Empty where it is none. */
export function keyType(key: Buffer): string {
  if (key.length < 4) return '';
  const length = key.readUInt32BE(0);
  return length > 64 || key.length < 4 + length ? '' : key.toString('latin1', 4, 4 + length);
}

/** The name that known_hosts files list a host under: with its port unless that is 22. */
export function knownHostsName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

/** Entries that speak of the host. */
export function entriesFor(entries: readonly KnownHost[], name: string): KnownHost[] {
  return entries.filter((entry) => namesMatch(entry.names, name));
}

function namesMatch(names: string, name: string): boolean {
  if (names.startsWith('|')) return hashMatches(names, name);
  let matched = false;
  for (const pattern of names.toLowerCase().split(',')) {
    const negated = pattern.startsWith('!');
    if (!globMatches(negated ? pattern.slice(1) : pattern, name)) continue;
    // A negated pattern that matches overrules all others of its line.
    if (negated) return false;
    matched = true;
  }
  return matched;
}

/** `|1|salt|hash`: HMAC-SHA1 of the name under the salt (HashKnownHosts in ssh_config(5)). */
function hashMatches(field: string, name: string): boolean {
  const [empty, version, salt, hash] = field.split('|');
  if (empty !== '' || version !== '1' || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `*` and `?` as in ssh_config(5), PATTERNS; nothing else is special. Linear in the text for each star. */
function globMatches(pattern: string, text: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++;
      mark = at;
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === text[at])) {
      from += 1;
      at += 1;
    } else if (star !== -1) {
      from = star + 1;
      at = ++mark;
    } else return false;
  }
  while (pattern[from] === '*') from += 1;
  return from === pattern.length;
}
