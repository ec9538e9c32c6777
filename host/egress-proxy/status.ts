import type { FiguresNow } from './figures.js';
import type { Policy } from './policy.js';
import type { PolicyState } from './policy-source.js';
import { lentBuffers } from './read-buffers.js';
import { REASONS, type Reason } from './reasons.js';

/** What a proxy says of itself. docs/schema/proxy-status-1.schema.json describes it. */
export interface ProxyStatus {
  readonly schema: 'watertight/proxy-status/1';
  readonly tenant: string;
  readonly pid: number;
  readonly started: string;
  readonly policy: {
    readonly mode: Policy['mode'];
    readonly digest: string | null;
    readonly read: string;
    readonly warnings: readonly string[];
    readonly reloads: PolicyState['reloads'];
  };
  readonly open: { readonly connections: number; readonly tunnels: number };
  /** Requests by verdict and reason; reasons that never came are left out. */
  readonly decisions: Readonly<Record<'allow' | 'deny', Partial<Record<Reason, number>>>>;
  readonly bytes: FiguresNow['bytes'];
  readonly lines: { readonly lost: number };
  readonly memory: { readonly resident_bytes: number; readonly lent_buffers: number };
}

export interface StatusParts {
  readonly policy: Policy;
  readonly state: PolicyState;
  readonly figures: FiguresNow;
  readonly connections: number;
  readonly linesLost: number;
  readonly started: Date;
}

export function proxyStatus({ policy, state, figures, connections, linesLost, started }: StatusParts): ProxyStatus {
  const reasons = Object.keys(REASONS) as Reason[];
  const counted = (verdict: 'allow' | 'deny'): Partial<Record<Reason, number>> =>
    Object.fromEntries(
      reasons
        .filter((reason) => REASONS[reason].verdict === verdict && figures.decisions[reason] > 0)
        .map((reason) => [reason, figures.decisions[reason]]),
    );
  return {
    schema: 'watertight/proxy-status/1',
    tenant: policy.tenant,
    pid: process.pid,
    started: started.toISOString(),
    policy: {
      mode: policy.mode,
      digest: state.digest,
      read: state.at.toISOString(),
      warnings: policy.warnings,
      reloads: state.reloads,
    },
    open: { connections, tunnels: figures.tunnels },
    decisions: { allow: counted('allow'), deny: counted('deny') },
    bytes: figures.bytes,
    lines: { lost: linesLost },
    memory: { resident_bytes: process.memoryUsage.rss(), lent_buffers: lentBuffers() },
  };
}
