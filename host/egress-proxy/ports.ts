import { parsePort } from './authority.js';

/** Inclusive range of ports. */
export type PortRange = readonly [from: number, to: number];

/** Where an entry names no port. */
export const DEFAULT_PORTS: readonly PortRange[] = [
  [80, 80],
  [443, 443],
];
export const ALL_PORTS: readonly PortRange[] = [[1, 65535]];

/** Reads `8443` or `8000-8010`; null for anything else. */
export function parsePorts(text: string): readonly PortRange[] | null {
  const [first = '', last = first, ...more] = text.split('-');
  const from = parsePort(first);
  const to = parsePort(last);
  return from === null || to === null || from > to || more.length > 0 ? null : [[from, to]];
}

/** Whether a port lies in one of the ranges, ends included. */
export function includesPort(ranges: readonly PortRange[], port: number): boolean {
  return ranges.some(([from, to]) => port >= from && port <= to);
}
