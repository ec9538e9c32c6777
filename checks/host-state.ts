import type { RulesetComparison } from '../profiles/ruleset-state.js';
import type { ChildIdentity } from './child-identity.js';

/** What the kernel holds of a tenant's containment, read back. Each part may be unknown, and then says why. */
export interface HostState {
  readonly tenant: string;
  readonly ruleset: RulesetState;
  /** The tenant's cgroup, relative to the cgroup2 root, and its inode; null where the folder is absent. */
  readonly cgroup: { readonly path: string; readonly inode: number | null };
  /** The confined child as the host sees it from outside; the child's own word is not asked. */
  readonly child: ChildState;
  readonly uid: number | null;
  readonly addressFilter: AddressFilterState;
  readonly policy: PolicyState;
}

/** What came of a datagram over loopback, in a network namespace without rules: `arrived`, `silent` or the kernel's error. */
export interface FilterObservation {
  /** The line of /proc/self/cgroup. */
  readonly cgroup: string;
  readonly denied: string;
  readonly allowed: string;
}

export type AddressFilterState =
  | { readonly kind: 'seen'; readonly within: FilterObservation; readonly outside: FilterObservation }
  | { readonly kind: 'unknown'; readonly reason: string };

/** SHA-256 of the policy, as wanted, as on disk, and as the running proxy says; null where that has read none. */
export type PolicyState =
  | {
      readonly kind: 'read';
      readonly profile: string;
      readonly file: string;
      readonly proxy: string | null;
      readonly mode: string;
    }
  | { readonly kind: 'unknown'; readonly reason: string };

export type RulesetState =
  | { readonly kind: 'listed'; readonly live: string; readonly comparison: RulesetComparison }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly reason: string };

export type ChildState =
  | { readonly kind: 'seen'; readonly identity: ChildIdentity }
  | { readonly kind: 'unknown'; readonly reason: string };
