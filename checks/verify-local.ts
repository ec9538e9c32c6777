import { performance } from 'node:perf_hooks';
import { onCleanup } from '../core/cli/cleanup.js';
import type { ClaimResult, VerifyEvent } from '../core/events.js';
import { acquireHostLock } from '../core/host-lock.js';
import { messageOf } from '../core/message-of.js';
import { EXIT, type ExitCode, exitOf } from '../core/outcome.js';
import { localTarget } from '../core/target/local.js';
import type { Target } from '../core/target/target.js';
import { version } from '../core/version.js';
import { PATHS } from '../profiles/names.js';
import type { HostProfile, TenantProfile } from '../profiles/profile.js';
import { profileDigest } from '../profiles/profile-digest.js';
import { attest } from './attest.js';
import { type ChildSession, startChild } from './gather/child-session.js';
import { leaveScratchNetwork } from './gather/scratch-network.js';
import { setUpStage } from './gather/set-up.js';
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
    profileDigest: profileDigest(options.profile),
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

async function verifyTenants(profile: HostProfile, tenants: readonly TenantProfile[], emit: Emit): Promise<ExitCode> {
  const [firstTenant] = tenants;
  if (firstTenant === undefined) {
    return couldNotTell(emit, 'nothing-to-prove', 'no such tenant on this host: nothing was proven', null);
  }
  const local = localTarget(profile.host);
  const release = onCleanup(() => leaveScratchNetwork(local));
  try {
    // Node and Python take their time to start: meanwhile the stage is set up.
    const control = startChild(local, []);
    const first = startConfined(local, firstTenant);
    const children = [control, first];
    try {
      const { stage, close } = await setUpStage(local, profile);
      try {
        const results = await verifyEach(stage, tenants, await control, first, emit);
        await attest(local, stage.ruleset, results);
        return exitOf(results.map(({ verdict }) => verdict));
      } finally {
        await close();
      }
    } finally {
      await Promise.all(children.map(async (child) => (await child).close()));
    }
  } catch (error) {
    const reason = messageOf(error);
    return couldNotTell(emit, 'set-up', reason, null);
  } finally {
    release();
    await local.close();
  }
}

/** One tenant after another, since their attempts go to the same sinks; the next one's child starts meanwhile. */
async function verifyEach(
  stage: Stage,
  tenants: readonly TenantProfile[],
  control: ChildSession,
  first: Promise<ChildSession>,
  emit: Emit,
): Promise<ClaimResult[]> {
  const results: ClaimResult[] = [];
  let starting = first;
  for (const [index, tenant] of tenants.entries()) {
    const confined = await starting;
    const following = tenants[index + 1];
    if (following) starting = startConfined(stage.local, following);
    results.push(...(await verifyTenant(stage, tenant, { confined, control }, emit)));
    await confined.close();
  }
  return results;
}

/** By the launcher that production uses; only the proof that it asks for does not exist yet. */
function startConfined(local: Target, tenant: TenantProfile): Promise<ChildSession> {
  return startChild(local, [process.execPath, PATHS.bundle, 'run-unproven', '--tenant', tenant.name, '--']);
}

function couldNotTell(emit: Emit, kind: string, reason: string, fix: string | null): ExitCode {
  emit({ type: 'failure', kind, reason, fix });
  return EXIT.couldNotTell;
}
