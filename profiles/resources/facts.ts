import type { Listing } from '../ruleset-state.js';

/** A path as it stands. Content is null where it is not a regular file, or is too large to carry. */
export type FileFact =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'file';
      readonly mode: number;
      readonly owner: string;
      readonly group: string;
      readonly sha256: string;
      readonly content: Buffer | null;
    }
  | { readonly kind: 'directory'; readonly mode: number; readonly owner: string; readonly group: string }
  /** A link, a device, a socket: `type` in stat's words. */
  | { readonly kind: 'other'; readonly type: string };

export type UserFact =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'present';
      readonly uid: number;
      readonly gid: number;
      readonly comment: string;
      readonly home: string;
      readonly shell: string;
      /** Names of all its groups, the primary one first. */
      readonly groups: readonly string[];
    };

/** A unit as systemd has it; a unit that is not there has the load state `not-found`. */
export interface UnitFact {
  readonly loadState: string;
  readonly activeState: string;
  readonly unitFileState: string;
  readonly needDaemonReload: boolean;
  readonly dropIns: readonly string[];
}

/** Everything read from a host in one go. Only what is in here is known. */
export interface HostFacts {
  readonly files: ReadonlyMap<string, FileFact>;
  readonly users: ReadonlyMap<string, UserFact>;
  readonly units: ReadonlyMap<string, UnitFact>;
  /** Installed packages and their versions. */
  readonly packages: ReadonlyMap<string, string>;
  readonly ruleset: {
    readonly live: Listing;
    /** The profile's ruleset in a scratch namespace; null where none was asked for. */
    readonly desired: Listing | null;
    /** The installed ruleset file in a scratch namespace; null where there is none. */
    readonly installed: Listing | null;
  };
}

/** A fact that a plan needs; one that was never read is an error and not "absent". */
export function needed<T>(facts: ReadonlyMap<string, T>, name: string): T {
  const fact = facts.get(name);
  if (fact === undefined) throw new Error(`the state of ${name} was not read from the host`);
  return fact;
}
