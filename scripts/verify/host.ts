import { verifyRemote } from '../../checks/verify-remote.js';
import { onCleanup } from '../../core/cli/cleanup.js';
import { loadConfiguration } from '../../core/configuration/load.js';
import { nearestOf } from '../../core/configuration/nearest.js';
import type { VerifyEvent } from '../../core/events.js';
import { UsageFailure } from '../../core/failure.js';
import type { ExitCode } from '../../core/outcome.js';
import type { Format } from '../../core/report/format-names.js';
import { standardOutput } from '../../core/report/output.js';
import { openReport } from '../../core/report/session.js';
import { hostProfile } from '../../profiles/host-profile.js';
import { profileDigest } from '../../profiles/profile-digest.js';
import { connectTo } from '../provision/connect.js';
import { hostBundle } from '../provision/host-bundle.js';

export interface VerifyFlags {
  readonly tenant?: string;
  readonly config?: string;
  readonly format: Format;
  readonly evidence: boolean;
  /** Seconds. */
  readonly deadline: number;
}

function tenantsOf(known: readonly string[], host: string, tenant: string | undefined): void {
  if (tenant === undefined || known.includes(tenant)) return;
  const { said, hint } = nearestOf(tenant, known);
  throw new UsageFailure(`${host} has no tenant ${said}`, hint);
}

/** Commands that mend something name the configuration that this run was given: another one may know another such host. */
function withConfiguration(event: VerifyEvent, config: string | undefined): VerifyEvent {
  const named = (fix: string | null) =>
    config !== undefined && /^watertight [a-z]+ [\w.-]+$/.test(fix ?? '') ? `${fix} --config ${config}` : fix;
  switch (event.type) {
    case 'claim':
      return { ...event, hint: named(event.hint) };
    case 'prerequisite':
    case 'failure':
      return { ...event, fix: named(event.fix) };
    default:
      return event;
  }
}

/** Verifies one host of the configuration and reports on standard output. @returns the exit code of the run */
export async function verifyHost(host: string, flags: VerifyFlags): Promise<ExitCode> {
  const configuration = await loadConfiguration(flags.config);
  const profile = hostProfile(configuration, host);
  const tenants = profile.tenants.map(({ name }) => name);
  tenantsOf(tenants, host, flags.tenant);
  const entry = configuration.hosts.get(host);
  if (entry === undefined) throw new UsageFailure(`there is no host ${host}`);
  const { sha256 } = await hostBundle();
  const target = connectTo(entry);
  const forget = onCleanup(() => target.close());
  const report = openReport(flags.format, { ...standardOutput(), evidence: flags.evidence });
  const tenant = flags.tenant === undefined ? {} : { tenant: flags.tenant };
  try {
    const deadlineMs = flags.deadline * 1000;
    await verifyRemote(
      { target, tenants, ...tenant, bundleDigest: sha256, profileDigest: profileDigest(profile), deadlineMs },
      (event) => report.emit(withConfiguration(event, flags.config)),
    );
  } finally {
    await target.close();
    forget();
  }
  return report.close();
}
