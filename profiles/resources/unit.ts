import type { ProfileUnit, UnitReaction } from '../profile.js';
import { type Change, type Operation, run } from './change.js';
import type { UnitFact } from './facts.js';

/** Makes systemd read its unit files again. */
export const DAEMON_RELOAD = run(['systemctl', 'daemon-reload']);

/** The change that makes systemd read unit files that this run writes, or that somebody has edited behind its back. */
export function compareSystemd(reason: string | null): Change | null {
  if (reason === null) return null;
  return {
    id: 'unit:daemon-reload',
    kind: 'unit',
    stage: 'systemd',
    summary: `systemctl daemon-reload (${reason})`,
    diff: null,
    operations: [DAEMON_RELOAD],
    undo: [],
    settle: [],
    kept: [],
  };
}

interface Step {
  readonly words: string;
  readonly operation: Operation;
  readonly undo: readonly Operation[];
  readonly settle: readonly Operation[];
  readonly kept?: string;
}

/**
 * The change that enables and starts a unit, or brings it up to date with files that this run changes.
 * @param changed paths that this run writes
 */
export function compareUnit(fact: UnitFact, desired: ProfileUnit, changed: ReadonlySet<string>): Change | null {
  const steps = [
    ...maskSteps(fact, desired),
    ...enablementSteps(fact, desired),
    ...activitySteps(fact, desired, changed),
  ];
  if (steps.length === 0) return null;
  return {
    id: `unit:${desired.name}`,
    kind: 'unit',
    stage: desired.name.endsWith('.slice') ? 'slices' : 'units',
    summary: `${steps.map(({ words }) => words).join(' and ')} ${desired.name}`,
    diff: null,
    operations: steps.map(({ operation }) => operation),
    undo: [...steps].reverse().flatMap(({ undo }) => undo),
    settle: steps.flatMap(({ settle }) => settle),
    kept: steps.flatMap(({ kept }) => kept ?? []),
  };
}

/** A mask in /etc stands in the place of the unit's file and is replaced with it; one in /run has to be lifted. */
function maskSteps(fact: UnitFact, { name }: ProfileUnit): readonly Step[] {
  if (fact.loadState !== 'masked' && !fact.unitFileState.startsWith('masked')) return [];
  const operation = run(['systemctl', 'unmask', '--runtime', '--', name]);
  return [{ words: 'unmask', operation, undo: [], settle: [], kept: `${name} stays unmasked` }];
}

function enablementSteps(fact: UnitFact, { name, enabled }: ProfileUnit): readonly Step[] {
  const enable = run(['systemctl', 'enable', '--', name]);
  const disable = run(['systemctl', 'disable', '--', name], { accept: [1] });
  if (enabled && fact.unitFileState !== 'enabled') {
    return [{ words: 'enable', operation: enable, undo: [disable], settle: [] }];
  }
  if (!enabled && fact.unitFileState === 'enabled') {
    return [{ words: 'disable', operation: disable, undo: [enable], settle: [] }];
  }
  return [];
}

function activitySteps(fact: UnitFact, desired: ProfileUnit, changed: ReadonlySet<string>): readonly Step[] {
  const { name, active, onChange } = desired;
  if (fact.activeState === 'active') return reactionSteps(name, onChange, changed);
  if (!active) return [];
  const start = run(['systemctl', 'start', '--', name]);
  // A slice of ours that was found stopped stays started: the ruleset that a rollback loads again needs its cgroup.
  // A slice is `loaded` without a file too (systemd.slice(5)); only one with a file has a file state.
  if (name.endsWith('.slice') && fact.unitFileState !== '') {
    return [{ words: 'start', operation: start, undo: [], settle: [], kept: `${name} stays started` }];
  }
  // systemctl(1): stop is no error for a unit that is not running; one that was never loaded answers 5.
  const undo = [run(['systemctl', 'stop', '--', name], { accept: [5] })];
  const words = fact.activeState === 'failed' ? 'start again' : 'start';
  return [{ words, operation: start, undo, settle: [] }];
}

const WORDS = {
  restart: 'restart',
  reload: 'reload',
  'try-restart': 'restart',
  'try-reload-or-restart': 'reload',
} as const;

function reactionSteps(
  name: string,
  reactions: readonly UnitReaction[],
  changed: ReadonlySet<string>,
): readonly Step[] {
  const action = reactions.find(({ paths }) => paths.some((path) => changed.has(path)))?.action ?? 'none';
  if (action === 'none') return [];
  const operation = run(['systemctl', action, '--', name]);
  return [{ words: WORDS[action], operation, undo: [], settle: [operation] }];
}

/** The change that stops and forgets a unit that was ours; its file is removed by itself. Null where it is gone. */
export function removeUnit(name: string, fact: UnitFact): Change | null {
  const isActive = fact.activeState !== 'inactive' && fact.activeState !== 'failed';
  const isEnabled = fact.unitFileState === 'enabled';
  if (!isActive && !isEnabled) return null;
  const stop = run(['systemctl', 'stop', '--', name], { accept: [5] });
  const disable = run(['systemctl', 'disable', '--', name], { accept: [1] });
  return {
    id: `unit:${name}`,
    kind: 'unit',
    stage: 'removal',
    summary: `${[isActive ? 'stop' : '', isEnabled ? 'disable' : ''].filter(Boolean).join(' and ')} ${name}`,
    diff: null,
    operations: [...(isActive ? [stop] : []), ...(isEnabled ? [disable] : [])],
    undo: [],
    settle: [
      ...(isEnabled ? [run(['systemctl', 'enable', '--', name])] : []),
      ...(isActive ? [run(['systemctl', 'start', '--', name])] : []),
    ],
    kept: isActive && name.endsWith('.slice') ? [`what ran in ${name} was ended`] : [],
  };
}
