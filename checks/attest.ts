import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type Attestation, parseAttestation, type TenantAttestation } from '../core/attestation.js';
import { digestOf } from '../core/digest.js';
import type { ClaimResult } from '../core/events.js';
import type { Verdict } from '../core/outcome.js';
import type { Target } from '../core/target/target.js';
import { version } from '../core/version.js';
import { PATHS, proxyServiceUnit, slicePath } from '../profiles/names.js';
import type { RulesetState } from './host-state.js';

/** How long a proof may be taken for true, by those who ask for a fresh one (the gate). */
const TIME_TO_LIVE_MS = 24 * 60 * 60 * 1000;
const DEADLINE_MS = 5000;

/**
 * Writes what the launcher will hold the host against, for the tenants of whom every claim was proven. A tenant of whom
 * something was disproved loses what an earlier run wrote; one of whom something could not be told keeps it, if it is of
 * this boot and these rules: a confined process that keeps a run from telling must not be able to end all work by that.
 */
export async function attest(local: Target, ruleset: RulesetState, results: readonly ClaimResult[]): Promise<void> {
  if (ruleset.kind === 'unknown') return;
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  const rulesetDigest = ruleset.kind === 'listed' ? digestOf(ruleset.live) : null;
  const verdicts = verdictsByTenant(results);
  const revoked = [...verdicts].filter(([, all]) => all.has('disproved')).map(([name]) => name);
  const proven = [...verdicts].filter(([, all]) => all.size === 1 && all.has('proven')).map(([name]) => name);
  const kept = await earlier(bootId, rulesetDigest, revoked);
  const fresh = await Promise.all(proven.map(async (name) => [name, await attestTenant(local, name)] as const));
  const tenants = { ...kept, ...Object.fromEntries(fresh) };
  if (rulesetDigest === null || Object.keys(tenants).length === 0) return rm(PATHS.attestation, { force: true });
  const machineId = (await readFile('/etc/machine-id', 'utf8')).trim();
  await write({ schema: 'watertight/attestation/1', machineId, bootId, rulesetDigest, tenants, version });
}

function verdictsByTenant(results: readonly ClaimResult[]): ReadonlyMap<string, ReadonlySet<Verdict>> {
  const verdicts = new Map<string, Set<Verdict>>();
  for (const { tenant, verdict } of results) {
    verdicts.set(tenant, (verdicts.get(tenant) ?? new Set()).add(verdict));
  }
  return verdicts;
}

/** What an earlier run of this boot proved, under the same rules, and this run did not disprove. */
async function earlier(bootId: string, rulesetDigest: string | null, revoked: readonly string[]) {
  const text = await readFile(PATHS.attestation, 'utf8').catch(() => '');
  const proof = parseAttestation(text);
  if (proof === null || proof.bootId !== bootId || proof.rulesetDigest !== rulesetDigest) return {};
  return Object.fromEntries(Object.entries(proof.tenants).filter(([name]) => !revoked.includes(name)));
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
  const now = Date.now();
  return {
    cgroup: ino,
    proxyInvocation: result.stdout.toString('utf8').trim(),
    provenAt: new Date(now).toISOString(),
    expiresAt: new Date(now + TIME_TO_LIVE_MS).toISOString(),
  };
}
