import { PATHS, TABLE } from '../names.js';
import { compareListings, type RulesetComparison } from '../ruleset-state.js';
import { type Change, type Operation, QUICK_MS, run } from './change.js';
import type { FileFact, HostFacts } from './facts.js';
import { unifiedDiff } from './unified-diff.js';

/** A table is made before it is deleted, because deleting one that is not there is an error (nft 1.0.6 has no destroy). */
const DELETE_TABLE = `table inet ${TABLE} {}\ndelete table inet ${TABLE}\n`;

/** nft's words for a cgroup that is not there. */
const NO_CGROUP = /cgroupv2 path fails/;

/** Whether the live table is the profile's. Unknown where no reference could be made, for one because a user is missing. */
export function rulesetState(facts: HostFacts): RulesetComparison {
  return compareListings(facts.ruleset.live, facts.ruleset.desired ?? { kind: 'absent' });
}

/** Whether the live table was what the installed file says: what a run may go back to. */
export function installedRulesetHolds(facts: HostFacts): boolean {
  return compareListings(facts.ruleset.live, facts.ruleset.installed ?? { kind: 'absent' }).kind === 'equal';
}

/**
 * The change that loads the profile's ruleset; null where the live table equals it, so that counters and connections
 * stay. The file replaces the table in one transaction.
 * @param installed the ruleset file as it was before this run
 */
export function compareRuleset(facts: HostFacts, installed: FileFact): Change | null {
  if (rulesetState(facts).kind === 'equal') return null;
  const before = installed.kind === 'file' ? installed.content : null;
  return {
    id: `ruleset:${TABLE}`,
    kind: 'ruleset',
    stage: 'ruleset',
    summary: `load table inet ${TABLE} (${whyLoad(facts)})`,
    diff: listingDiff(facts),
    operations: [run(['nft', '-f', PATHS.ruleset])],
    undo: before === null ? [deleteTable()] : [],
    settle: before === null ? [] : [feed(before.toString('utf8'))],
    kept: installedRulesetHolds(facts) ? [] : staysOf(facts, before !== null),
  };
}

/** For an operator, who knows of no listing and of no scratch namespace: lines and errors of nft stand in the diff. */
function whyLoad({ ruleset: { live, desired } }: HostFacts): string {
  switch (live.kind) {
    case 'absent':
      return 'the table is not loaded';
    case 'no-tool':
      return 'nft is not installed';
    case 'error':
      return `the live table cannot be read: ${live.reason}`;
    case 'listed':
      return whyNotThis(desired);
  }
}

function whyNotThis(desired: HostFacts['ruleset']['desired']): string {
  if (desired?.kind === 'listed') return 'the live table differs from the profile';
  const noSlice = desired?.kind === 'error' && NO_CGROUP.test(desired.reason);
  return noSlice ? "a tenant's slice is not running" : 'the live table cannot be compared with the profile yet';
}

function listingDiff({ ruleset: { live, desired } }: HostFacts): string | null {
  if (desired?.kind !== 'listed') return null;
  const before = live.kind === 'listed' ? Buffer.from(`${live.text}\n`) : null;
  return unifiedDiff(`table inet ${TABLE}`, before, Buffer.from(`${desired.text}\n`));
}

/** A run that is taken back never opens a host again: what was wrong before is not made wrong again. */
function staysOf({ ruleset: { live } }: HostFacts, hasFile: boolean): readonly string[] {
  if (hasFile) return [`table inet ${TABLE} stays loaded, as ${PATHS.ruleset} has it`];
  return live.kind === 'listed' ? [`table inet ${TABLE}, which no file on the host names, is not loaded again`] : [];
}

/** Deletes the table, whether or not it is there. */
export function deleteTable(): Operation {
  return feed(DELETE_TABLE);
}

function feed(ruleset: string): Operation {
  return { do: 'run', command: ['nft', '-f', '-'], input: ruleset, deadlineMs: QUICK_MS };
}
