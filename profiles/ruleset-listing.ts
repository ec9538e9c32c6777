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
