import { verifyLocal } from '../../checks/verify-local.js';
import { UsageFailure } from '../../core/failure.js';
import type { ExitCode } from '../../core/outcome.js';
import type { Format } from '../../core/report/format-names.js';
import { standardOutput } from '../../core/report/output.js';
import { openReport } from '../../core/report/session.js';
import { installedProfile } from '../../host/installed-profile.js';

export interface VerifyHereFlags {
  readonly tenant?: string;
  readonly format: Format;
  readonly evidence: boolean;
}

/** Verifies the machine that this runs on, as root, and reports on standard output. @returns the exit code of the run */
export async function verifyHere({ tenant, format, evidence }: VerifyHereFlags): Promise<ExitCode> {
  if (process.getuid?.() !== 0) {
    throw new UsageFailure(
      'verify needs root on the host: it reads rules and starts a confined unit',
      'sudo watertight verify --local',
    );
  }
  const profile = await installedProfile();
  const report = openReport(format, { ...standardOutput(), evidence });
  await verifyLocal({ profile, ...(tenant === undefined ? {} : { tenant }) }, report.emit);
  return report.close();
}
