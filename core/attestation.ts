import { isRecord, parseJson } from './json.js';

/** What binds a verdict to the state in which it was reached: any of these changed, and it says nothing any more. */
export interface Attestation {
  readonly schema: 'watertight/attestation/1';
  readonly machineId: string;
  readonly bootId: string;
  /** SHA-256 of the live table's normalised listing (profiles/ruleset-listing.ts). */
  readonly rulesetDigest: string;
  readonly tenants: Readonly<Record<string, TenantAttestation>>;
  readonly version: string;
}

export interface TenantAttestation {
  /** Inode of the tenant's cgroup, which is the id that the rule holds. */
  readonly cgroup: number;
  /** systemd's invocation id of the proxy's service. */
  readonly proxyInvocation: string;
  /** ISO 8601. Who asks for a fresh proof looks at these (the gate); the launcher asks for one of this boot. */
  readonly provenAt: string;
  readonly expiresAt: string;
}

/** Reads an attestation; null where the text is not one. */
export function parseAttestation(text: string): Attestation | null {
  const value = parseJson(text);
  return isAttestation(value) ? value : null;
}

function isAttestation(value: unknown): value is Attestation {
  if (!isRecord(value) || value.schema !== 'watertight/attestation/1' || !isRecord(value.tenants)) return false;
  const texts = ['machineId', 'bootId', 'rulesetDigest', 'version'];
  if (!texts.every((key) => typeof value[key] === 'string')) return false;
  return Object.values(value.tenants).every(
    (tenant) =>
      isRecord(tenant) &&
      Number.isSafeInteger(tenant.cgroup) &&
      ['proxyInvocation', 'provenAt', 'expiresAt'].every((key) => typeof tenant[key] === 'string'),
  );
}
