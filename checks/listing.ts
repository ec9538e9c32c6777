/** Reads the parts of `nft list table` that claims ask for. Text, since nft 1.0.6 leaves the level out of its JSON. */

/** The body of a chain; empty where there is none of that name. */
export function chainOf(listing: string, chain: string): string {
  return block(listing, `chain ${chain} {`);
}

/** The keys of a map's elements, without quotes. */
export function elementsOf(listing: string, map: string): readonly string[] {
  return pairsOf(listing, map).map(({ key }) => key);
}

/** The chains that a verdict map jumps to. */
export function jumpsOf(listing: string, map: string): readonly string[] {
  return pairsOf(listing, map).flatMap(({ verdict }) => /^jump (\S+)$/.exec(verdict)?.[1] ?? []);
}

/** Whether the table carries the flag that switches all of it off (nft(8), TABLES). */
export function isDormant(listing: string): boolean {
  return /^\s*flags [^\n]*\bdormant\b/m.test(listing);
}

function pairsOf(listing: string, map: string): { key: string; verdict: string }[] {
  const elements = /elements = \{([^}]*)\}/.exec(block(listing, `map ${map} {`))?.[1] ?? '';
  return elements
    .split(',')
    .map((element) => element.trim().split(' : ', 2))
    .flatMap(([key, verdict]) => (key && verdict ? [{ key: key.replaceAll('"', ''), verdict: verdict.trim() }] : []));
}

/** Lines from the one that opens a block to the one that closes it at the same depth. */
function block(listing: string, opening: string): string {
  const lines = listing.split('\n');
  const start = lines.findIndex((line) => line.trim() === opening);
  if (start < 0) return '';
  const indent = /^\s*/.exec(lines[start] ?? '')?.[0] ?? '';
  const length = lines.slice(start + 1).indexOf(`${indent}}`);
  return length < 0 ? '' : lines.slice(start + 1, start + 1 + length).join('\n');
}
