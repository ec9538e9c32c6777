import { PATHS, TABLE } from '../names.js';
import { compareListings, type RulesetComparison } from '../ruleset-state.js';
import { type Change, type Operation, QUICK_MS, run } from './change.js';
import type { FileFact, HostFacts } from './facts.js';

/** A table is made before it is deleted, because deleting one that is not there is an error (nft 1.0.6 has no destroy). */
const DELETE_TABLE = `table inet ${TABLE} {}\ndelete table inet ${TABLE}\n`;

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
  const state = rulesetState(facts);
  if (state.kind === 'equal') return null;
  const before = installed.kind === 'file' ? installed.content : null;
  return {
    id: `ruleset:${TABLE}`,
    kind: 'ruleset',
    stage: 'ruleset',
    summary: `load table inet ${TABLE} (${state.reason})`,
    diff: null,
    operations: [run(['nft', '-f', PATHS.ruleset])],
    undo: before === null ? [deleteTable()] : [],
    settle: before === null ? [] : [feed(before.toString('utf8'))],
  };
}

/** Deletes the table, whether or not it is there. */
export function deleteTable(): Operation {
  return feed(DELETE_TABLE);
}

function feed(ruleset: string): Operation {
  return { do: 'run', command: ['nft', '-f', '-'], input: ruleset, deadlineMs: QUICK_MS };
}
