import { newNonce } from '../../core/nonce.js';
import { localTarget } from '../../core/target/local.js';
import type { Target } from '../../core/target/target.js';
import { tenantUser } from '../../profiles/names.js';
import type { HostProfile, TenantProfile } from '../../profiles/profile.js';
import { type Containment, containmentOf } from './containment.js';
import { foreignSockets } from './descriptors.js';
import { asUser, findExecutable } from './executable.js';
import { type Ending, isSetUpStatus } from './exit-status.js';
import { containmentFacts } from './facts.js';
import { launch } from './launch.js';

/** Exit statuses of the launcher itself, as env(1), timeout(1) and container engines use them. */
const LAUNCHER_EXIT = { refused: 125, notExecutable: 126, notFound: 127 } as const;

export type RunResult =
  | { readonly kind: 'ended'; readonly ending: Ending; readonly note: string | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly fix: string | null; readonly exit: number };

export interface RunRequest {
  readonly profile: HostProfile;
  readonly tenant: string;
  readonly command: readonly [string, ...string[]];
  /** Launch although containment is not proven: the verifier's own child, which is how it comes to be proven. */
  readonly unproven: boolean;
}

/** Runs a command confined, or says why not. Never launches on "could not tell". */
export async function runConfined(request: RunRequest): Promise<RunResult> {
  const tenant = request.profile.tenants.find(({ name }) => name === request.tenant);
  if (!tenant) return refuse(`this host has no tenant "${request.tenant}"`, tenantsOf(request.profile));
  const foreign = await foreignSockets();
  if (foreign.length > 0) {
    return refuse(`standard descriptor ${foreign.join(', ')} is a network socket made outside`, 'use a pipe instead');
  }
  const local = localTarget();
  try {
    const objection = request.unproven ? null : await objectionTo(local, tenant);
    if (objection) return objection;
    const executable = await findExecutable(request.command[0], asUser(local, tenantUser(tenant.name)));
    if (executable.kind === 'found') return await run(tenant, [executable.path, ...request.command.slice(1)]);
    const { notExecutable, notFound } = LAUNCHER_EXIT;
    return executable.kind === 'not-found'
      ? { ...refuse(`${request.command[0]}: not found by ${tenantUser(tenant.name)}`, null), exit: notFound }
      : { ...refuse(`${executable.path}: not executable by ${tenantUser(tenant.name)}`, null), exit: notExecutable };
  } finally {
    await local.close();
  }
}

async function run(tenant: TenantProfile, command: readonly [string, ...string[]]): Promise<RunResult> {
  const unit = `${newNonce('watertight-run-')}.service`;
  const ending = await launch({ tenant: tenant.name, proxy: tenant.proxy, command, unit });
  return { kind: 'ended', ending, note: noteOn(ending) };
}

async function objectionTo(local: Target, tenant: TenantProfile): Promise<RunResult | null> {
  const containment: Containment = containmentOf(await containmentFacts(local, tenant), tenant.name);
  switch (containment.kind) {
    case 'holds':
      return null;
    case 'broken':
      return refuse(`containment does not hold: ${containment.reasons.join('; ')}`, 'sudo watertight verify --local');
    case 'could-not-tell':
      return refuse(
        `could not tell whether containment holds: ${containment.reasons.join('; ')}`,
        'sudo watertight verify --local',
      );
  }
}

function refuse(reason: string, fix: string | null): RunResult & { kind: 'refused' } {
  return { kind: 'refused', reason, fix, exit: LAUNCHER_EXIT.refused };
}

function tenantsOf(profile: HostProfile): string {
  return `tenants here: ${profile.tenants.map(({ name }) => name).join(', ') || 'none'}`;
}

function noteOn(ending: Ending): string | null {
  if (ending.kind !== 'exited' || !isSetUpStatus(ending.status)) return null;
  return `status ${ending.status} is also how systemd says that it could not set the unit up (systemd.exec(5))`;
}
