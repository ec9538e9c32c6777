import type { Target } from '../core/target/target.js';
import type { HostProfile } from '../profiles/profile.js';
import type { FarSink } from './gather/far-sink.js';
import type { NearSinks } from './gather/near-sinks.js';
import type { RulesetState } from './host-state.js';

/** What one run sets up once, for every tenant. */
export interface Stage {
  readonly local: Target;
  readonly profile: HostProfile;
  readonly far: FarSink;
  readonly near: NearSinks;
  readonly markers: readonly string[];
  readonly ruleset: RulesetState;
}
