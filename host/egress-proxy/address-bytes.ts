import { isIPv4, isIPv6 } from 'node:net';

/**
 * Bytes of an address: 4 or 16. Own code, because ipaddr.js reads ::127.0.0.1 as ::ffff:127.0.0.1, which is another
 * address in another range.
 *
 * @returns null for what is no address, and for one with a zone
 */
export function addressBytes(address: string): readonly number[] | null {
  if (isIPv4(address)) return address.split('.').map(Number);
  if (!isIPv6(address) || address.includes('%')) return null;
  const [front = '', back] = address.split('::');
  const head = groupBytes(front);
  if (back === undefined) return head;
  const tail = groupBytes(back);
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** Bytes of colon-separated groups, the last of which may be an IPv4 address (RFC 4291, section 2.2). */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The one text of an address (RFC 5952); null where it is none. */
export function canonicalAddress(address: string): string | null {
  if (isIPv4(address)) return address;
  if (!isIPv6(address) || address.includes('%')) return null;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** The same text for two spellings of one destination: canonical, and IPv4-mapped IPv6 as IPv4. */
export function destinationKey(address: string): string {
  const bytes = addressBytes(address.replace(/%.*$/, ''));
  if (bytes === null) return address;
  const mapped =
    bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && bytes.slice(0, 10).every((b) => b === 0);
  return (mapped ? bytes.slice(12) : bytes).join('.');
}
