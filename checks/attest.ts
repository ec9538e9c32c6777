import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type Attestation, parseAttestation, type TenantAttestation } from '../core/attestation.js';
import { digestOf } from '../core/digest.js';
import type { ClaimResult } from '../core/events.js';
import type { Target } from '../core/target/target.js';
import { version } from '../core/version.js';
import { PATHS, proxyServiceUnit, slicePath } from '../profiles/names.js';
import type { RulesetState } from './host-state.js';

/** How long a proof may be taken for true, by those who ask for a fresh one (the gate). */
const TIME_TO_LIVE_MS = 24 * 60 * 60 * 1000;
const DEADLINE_MS = 5000;

/**
 * Writes what the launcher will hold the host against, for the tenants of whom every claim was proven; a tenant that
 * this run looked at and could not prove loses what an earlier run wrote.
 */
export async function attest(local: Target, ruleset: RulesetState, results: readonly ClaimResult[]): Promise<void> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  const rulesetDigest = ruleset.kind === 'listed' ? digestOf(ruleset.live) : null;
  const looked = [...new Set(results.map(({ tenant }) => tenant))];
  const proven = looked.filter((name) =>
    results.every(({ tenant, verdict }) => tenant !== name || verdict === 'proven'),
  );
  const kept = await earlier(bootId, rulesetDigest, looked);
  const fresh = await Promise.all(proven.map(async (name) => [name, await attestTenant(local, name)] as const));
  const tenants = { ...kept, ...Object.fromEntries(fresh) };
  if (rulesetDigest === null || Object.keys(tenants).length === 0) return rm(PATHS.attestation, { force: true });
  const now = Date.now();
  await write({
    schema: 'watertight/attestation/1',
    machineId: (await readFile('/etc/machine-id', 'utf8')).trim(),
    bootId,
    rulesetDigest,
    tenants,
    provenAt: new Date(now).toISOString(),
    expiresAt: new Date(now + TIME_TO_LIVE_MS).toISOString(),
    version,
  });
}

/** What an earlier run of this boot proved, under the same rules, of tenants that this run did not look at. */
async function earlier(bootId: string, rulesetDigest: string | null, looked: readonly string[]) {
  const text = await readFile(PATHS.attestation, 'utf8').catch(() => '');
  const proof = parseAttestation(text);
  if (proof === null || proof.bootId !== bootId || proof.rulesetDigest !== rulesetDigest) return {};
  return Object.fromEntries(Object.entries(proof.tenants).filter(([name]) => !looked.includes(name)));
}

async function write(attestation: Attestation): Promise<void> {
  await mkdir(PATHS.run, { recursive: true, mode: 0o755 });
  const candidate = `${PATHS.attestation}.${process.pid}`;
  await writeFile(candidate, `${JSON.stringify(attestation, null, 2)}\n`, { mode: 0o644 });
  await rename(candidate, PATHS.attestation);
}

async function attestTenant(local: Target, tenant: string): Promise<TenantAttestation> {
  const { ino } = await stat(`/sys/fs/cgroup/${slicePath(tenant)}`);
  const unit = proxyServiceUnit(tenant);
  const command = ['systemctl', 'show', '--property=InvocationID', '--value', unit] as const;
  const result = await local.exec({ command, deadlineMs: DEADLINE_MS });
  return { cgroup: ino, proxyInvocation: result.stdout.toString('utf8').trim() };
}
