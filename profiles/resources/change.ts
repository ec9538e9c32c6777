/** What is done to a host, as data: decided by pure code, shown by a dry run, carried out elsewhere. */
export type Operation =
  | {
      readonly do: 'run';
      readonly command: readonly [string, ...string[]];
      readonly input?: string;
      readonly deadlineMs: number;
      /** Exit statuses besides 0 that are as good (what was to be undone was never done). */
      readonly accept?: readonly number[];
      /** Its lines are worth showing while it runs. */
      readonly progress?: boolean;
    }
  | {
      readonly do: 'write';
      readonly path: string;
      readonly content: Buffer;
      readonly mode: number;
      readonly owner: string;
      readonly group: string;
      readonly check?: readonly [string, ...string[]];
    };

/**
 * The order in which a host is changed, fail closed: what contains comes before what it contains, and permission to
 * launch comes last. On a host that has permissions already they are withdrawn before anything else is touched.
 */
export const STAGES = [
  'withdraw',
  'note',
  'packages',
  'users',
  'directories',
  'files',
  'systemd',
  'slices',
  'ruleset',
  'units',
  'removal',
  'settle-note',
  'permission',
] as const;
export type Stage = (typeof STAGES)[number];

export type ChangeKind =
  | 'package'
  | 'user'
  | 'directory'
  | 'file'
  | 'bundle'
  | 'unit'
  | 'ruleset'
  | 'permission'
  | 'note';

/** One difference between a host and its profile, and what ends it. */
export interface Change {
  /** For example `file:/etc/watertight/watertight.nft`. */
  readonly id: string;
  readonly kind: ChangeKind;
  readonly stage: Stage;
  /** What will be done, in words. */
  readonly summary: string;
  /** Unified diff of a file; null where there is nothing to compare. */
  readonly diff: string | null;
  readonly operations: readonly Operation[];
  /** Takes it back; carried out in the reverse order of the changes. */
  readonly undo: readonly Operation[];
  /** Carried out after everything is taken back, in the order of the stages: what has to take note of old files again. */
  readonly settle: readonly Operation[];
  /** What stays as this change made it though it is taken back, in words. None: everything is as it was. */
  readonly kept: readonly string[];
}

/** Milliseconds that an ordinary program may take on a slow host. */
export const QUICK_MS = 30_000;

export function run(command: readonly [string, ...string[]], options: { accept?: readonly number[] } = {}): Operation {
  return { do: 'run', command, deadlineMs: QUICK_MS, ...options };
}

/** Changes in the order of their stages; within a stage they stay as they are. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  return [...changes].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));
}

/** An octal mode as people write it, for example `0644`. */
export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
