import { TABLE } from './names.js';

/** `nft list table …`: prints the live table, or fails where there is none. */
export const LIST_TABLE = ['nft', 'list', 'table', 'inet', TABLE] as const;

/**
 * Loads a ruleset file into a network namespace of its own and lists it there. What comes out is what the kernel makes
 * of the file on this host, now: the same nft, the same users, the same cgroup ids. It leaves nothing behind: the
 * namespace goes with the process (network_namespaces(7)). The file's path is the script's first argument.
 */
export const LIST_FRESHLY_LOADED = [
  'unshare',
  '--net',
  '/bin/sh',
  '-euc',
  `nft -f "$1"; exec ${LIST_TABLE.join(' ')}`,
  'sh',
];

/**
 * A table's listing without what moves by itself. Two listings that are equal after this hold the same rules, hooks,
 * levels and flags, and name the same cgroups: a rule whose cgroup was removed and made again lists a bare number where
 * a path should stand.
 */
export function normaliseListing(listing: string): string {
  return listing
    .split('\n')
    .map((line) => line.trimEnd().replace(/\bpackets \d+ bytes \d+\b/g, 'packets 0 bytes 0'))
    .filter((line) => line !== '')
    .join('\n');
}
