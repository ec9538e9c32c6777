import { normaliseListing } from './ruleset-listing.js';
import listingFunctions from './ruleset-state.sh';

/** What `nft list table inet watertight` said, of the live table or of a ruleset loaded into a scratch namespace. */
export type Listing =
  | { readonly kind: 'listed'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'no-tool' }
  | { readonly kind: 'error'; readonly reason: string };

/** Whether the live table is the ruleset, by effect: same rules, same cgroup ids, same hooks. */
export type RulesetComparison =
  | { readonly kind: 'equal' }
  | { readonly kind: 'differs'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Shell functions `live_listing` and `scratch_listing NAME`; they expect $NONCE to be set. */
export const LISTING_FUNCTIONS = listingFunctions;

/** Every framed listing in a script's output, by its name. */
export function readListings(stdout: string, nonce: string): ReadonlyMap<string, Listing> {
  const listings = new Map<string, Listing>();
  for (const line of stdout.split('\n')) {
    const [mark, kind, name, status, text] = line.split('\t');
    if (mark !== nonce || kind !== 'ruleset' || name === undefined || status === undefined) continue;
    listings.set(name, readListing(status, Buffer.from(text ?? '', 'base64').toString('utf8')));
  }
  return listings;
}

/** One listing from nft's exit status and what it printed. */
export function readListing(status: string, text: string): Listing {
  if (status === 'no-tool') return { kind: 'no-tool' };
  if (status === '0') return { kind: 'listed', text: normaliseListing(text) };
  // timeout(1): 124 when it ended the program, 137 when it had to kill it.
  if (status === '124' || status === '137') return { kind: 'error', reason: 'nft gave no answer within 10 s' };
  if (/^Error: No such file or directory/m.test(text) && /^list table /m.test(text)) return { kind: 'absent' };
  return { kind: 'error', reason: firstLine(text) || `nft ended with status ${status}` };
}

/** Compares the live table with a reference made from the ruleset on the same host. */
export function compareListings(live: Listing, reference: Listing): RulesetComparison {
  switch (live.kind) {
    case 'absent':
      return { kind: 'differs', reason: 'the table is not loaded' };
    case 'no-tool':
      return { kind: 'differs', reason: 'nft is not installed' };
    case 'error':
      return { kind: 'unknown', reason: live.reason };
    case 'listed':
      return compareWithReference(live.text, reference);
  }
}

function compareWithReference(live: string, reference: Listing): RulesetComparison {
  if (reference.kind === 'listed') {
    if (reference.text === live) return { kind: 'equal' };
    return { kind: 'differs', reason: firstDifference(live, reference.text) };
  }
  const reason = reference.kind === 'error' ? reference.reason : `no reference: ${reference.kind}`;
  // nft resolves a cgroup's path when it loads a rule: a path that is not there means that no live rule can match it.
  if (/cgroupv2 path fails/.test(reason))
    return { kind: 'differs', reason: `a tenant's slice is not running: ${reason}` };
  return { kind: 'unknown', reason: `the ruleset does not load in a scratch namespace: ${reason}` };
}

function firstDifference(live: string, expected: string): string {
  const liveLines = live.split('\n');
  const expectedLines = expected.split('\n');
  const at = expectedLines.findIndex((line, index) => line !== liveLines[index]);
  const index = at === -1 ? expectedLines.length : at;
  const side = (lines: readonly string[]) => (lines[index] === undefined ? 'nothing' : `"${lines[index].trim()}"`);
  return `line ${index + 1} of the listing is ${side(liveLines)}, expected ${side(expectedLines)}`;
}

function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').trim().slice(0, 200);
}
