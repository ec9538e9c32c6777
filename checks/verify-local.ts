import { performance } from 'node:perf_hooks';
import type { ClaimResult, VerifyEvent } from '../core/events.js';
import { acquireHostLock } from '../core/host-lock.js';
import { EXIT, type ExitCode, exitOf } from '../core/outcome.js';
import { localTarget } from '../core/target/local.js';
import type { Target } from '../core/target/target.js';
import { version } from '../core/version.js';
import { PATHS } from '../profiles/names.js';
import type { HostProfile } from '../profiles/profile.js';
import { attest } from './attest.js';
import { startFarSink } from './gather/far-sink.js';
import { readRuleset } from './gather/host-state.js';
import { openNearSinks } from './gather/near-sinks.js';
import type { Stage } from './stage.js';
import { verifyTenant } from './verify-tenant.js';

export interface VerifyLocalOptions {
  readonly profile: HostProfile;
  /** Only this tenant; absent: all of the host's. */
  readonly tenant?: string;
  /** The caller holds the host's lock already (provision). */
  readonly locked?: boolean;
  /** How long to wait for another verify or provision to end. Default 60 s. */
  readonly waitMs?: number;
}

type Emit = (event: VerifyEvent) => void;

/**
 * Proves containment of this host, as root: says every event of the run, and binds the verdict to this boot in an
 * attestation. Never throws; what kept it from telling is a `failure` event.
 * @returns the exit code, which the last event holds too
 */
export async function verifyLocal(options: VerifyLocalOptions, emit: Emit): Promise<ExitCode> {
  const startedAt = performance.now();
  const tenants = options.profile.tenants.filter(({ name }) => options.tenant === undefined || options.tenant === name);
  emit({
    type: 'started',
    schema: 'watertight/verify/1',
    host: options.profile.host,
    tenants: tenants.map(({ name }) => name),
    at: new Date().toISOString(),
    version,
  });
  const exit = await underLock(options, emit, () => verifyTenants(options.profile, tenants, emit));
  emit({ type: 'finished', exit, durationMs: Math.round(performance.now() - startedAt) });
  return exit;
}

async function underLock(options: VerifyLocalOptions, emit: Emit, run: () => Promise<ExitCode>): Promise<ExitCode> {
  if (options.locked) return run();
  const lock = await acquireHostLock(PATHS.lock, { waitMs: options.waitMs ?? 60_000, who: 'verify' });
  if (lock.kind !== 'locked') {
    const reason = lock.kind === 'held' ? `another run holds this host: ${lock.by}` : lock.reason;
    return couldNotTell(
      emit,
      lock.kind === 'held' ? 'busy' : 'lock',
      reason,
      'wait for it to end, and run verify again',
    );
  }
  try {
    return await run();
  } finally {
    await lock.release();
  }
}

async function verifyTenants(profile: HostProfile, tenants: HostProfile['tenants'], emit: Emit): Promise<ExitCode> {
  if (tenants.length === 0) {
    return couldNotTell(emit, 'nothing-to-prove', 'no such tenant on this host: nothing was proven', null);
  }
  const local = localTarget(profile.host);
  try {
    const results: ClaimResult[] = [];
    const ruleset = await readRuleset(local, profile);
    const stage = await setUp(local, profile, ruleset);
    try {
      for (const tenant of tenants) results.push(...(await verifyTenant(stage, tenant, emit)));
    } finally {
      await Promise.all([stage.far.close(), stage.near.close()]);
    }
    await attest(local, ruleset, results);
    return exitOf(results.map(({ verdict }) => verdict));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return couldNotTell(emit, 'set-up', reason, null);
  } finally {
    await local.close();
  }
}

async function setUp(local: Target, profile: HostProfile, ruleset: Stage['ruleset']): Promise<Stage> {
  const far = await startFarSink(local);
  try {
    const near = await openNearSinks();
    const launcher = (tenant: string) => [
      process.execPath,
      PATHS.bundle,
      ...['run', '--unproven', '--tenant', tenant, '--'],
    ];
    return { local, profile, far, near, ruleset, launcher };
  } catch (error) {
    await far.close();
    throw error;
  }
}

function couldNotTell(emit: Emit, kind: string, reason: string, fix: string | null): ExitCode {
  emit({ type: 'failure', kind, reason, fix });
  return EXIT.couldNotTell;
}
