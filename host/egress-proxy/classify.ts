import { addressBytes } from './address-bytes.js';
import { type AddressRange, IPV4_RANGES, IPV6_RANGES } from './address-ranges.js';

export type AddressClass =
  | { readonly kind: 'public' }
  /** `range` is the range that holds it, with the embedded address's own range behind it: `2002::/16 10.0.0.0/8`. */
  | { readonly kind: 'forbidden'; readonly range: string };

interface CompiledRange extends AddressRange {
  readonly bytes: readonly number[];
  readonly bits: number;
}

const IPV4 = IPV4_RANGES.map(compile);
const IPV6 = IPV6_RANGES.map(compile);

function compile(range: AddressRange): CompiledRange {
  const [network = '', bits = ''] = range.range.split('/');
  const bytes = addressBytes(network);
  if (bytes === null) throw new TypeError(`no range: ${range.range}`);
  return { ...range, bytes, bits: Number(bits) };
}

/**
 * Tells whether an address is on the public internet. An IPv4 address inside an IPv6 one is unwrapped and judged too.
 *
 * @param address IPv4 or IPv6 in any spelling that net.isIP knows; anything else (a zone, a short form) is forbidden
 */
export function classifyAddress(address: string): AddressClass {
  const bytes = addressBytes(address);
  return bytes === null ? { kind: 'forbidden', range: 'unreadable' } : classifyBytes(bytes);
}

function classifyBytes(bytes: readonly number[]): AddressClass {
  const found = (bytes.length === 4 ? IPV4 : IPV6).find((range) => holds(range, bytes));
  if (found === undefined) return { kind: 'public' };
  if (found.embeds === undefined) return { kind: 'forbidden', range: found.range };
  const inner = classifyBytes(bytes.slice(found.embeds, found.embeds + 4));
  if (inner.kind === 'forbidden') return { kind: 'forbidden', range: `${found.range} ${inner.range}` };
  return found.transparent === true ? inner : { kind: 'forbidden', range: found.range };
}

function holds(range: CompiledRange, bytes: readonly number[]): boolean {
  const whole = range.bits >> 3;
  for (let index = 0; index < whole; index++) if (range.bytes[index] !== bytes[index]) return false;
  const rest = range.bits & 7;
  return rest === 0 || ((range.bytes[whole] ?? 0) ^ (bytes[whole] ?? 0)) >> (8 - rest) === 0;
}
