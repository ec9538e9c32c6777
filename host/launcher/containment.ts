import type { Attestation } from '../../core/attestation.js';

/** What the launcher looks at before it starts anything. Each fact was read, or could not be: then it holds why. */
export interface ContainmentFacts {
  readonly attestation: Fact<Attestation | null>;
  readonly bootId: Fact<string>;
  /** SHA-256 of the live table's normalised listing; null where there is no table. */
  readonly rulesetDigest: Fact<string | null>;
  /** Inode of the tenant's cgroup; null where there is none. */
  readonly cgroup: Fact<number | null>;
  /** Whether something takes connections on the tenant's proxy address. */
  readonly proxyAnswers: Fact<boolean>;
}

export type Fact<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly why: string };

/** The launcher's three answers. Only `holds` launches. */
export type Containment =
  | { readonly kind: 'holds' }
  | { readonly kind: 'broken'; readonly reasons: readonly string[] }
  | { readonly kind: 'could-not-tell'; readonly reasons: readonly string[] };

/**
 * Decides whether containment holds for a tenant: a proof of this boot, and nothing that it rests on changed since.
 * A reason that says "broken" outweighs one that says "could not tell".
 */
export function containmentOf(facts: ContainmentFacts, tenant: string): Containment {
  const unknown = Object.values(facts).flatMap((fact: Fact<unknown>) => (fact.known ? [] : [fact.why]));
  const broken = brokenReasons(facts, tenant);
  if (broken.length > 0) return { kind: 'broken', reasons: broken };
  if (unknown.length > 0) return { kind: 'could-not-tell', reasons: unknown };
  return { kind: 'holds' };
}

function brokenReasons(facts: ContainmentFacts, tenant: string): string[] {
  const reasons: string[] = [];
  const { attestation, bootId, rulesetDigest, cgroup, proxyAnswers } = facts;
  if (rulesetDigest.known && rulesetDigest.value === null) reasons.push('the table inet watertight is not loaded');
  if (cgroup.known && cgroup.value === null) reasons.push(`the slice of tenant ${tenant} has no cgroup`);
  if (proxyAnswers.known && !proxyAnswers.value) reasons.push(`nothing listens where the proxy of ${tenant} should`);
  if (!attestation.known) return reasons;
  const proof = attestation.value;
  const proven = proof?.tenants[tenant];
  if (proof === null || proven === undefined) {
    reasons.push(
      `containment of tenant ${tenant} has not been proven since this host booted, or the last proof failed`,
    );
    return reasons;
  }
  if (bootId.known && bootId.value !== proof.bootId) reasons.push('the proof is of an earlier boot');
  if (rulesetDigest.known && rulesetDigest.value !== null && rulesetDigest.value !== proof.rulesetDigest) {
    reasons.push('the ruleset is not the one that was proven');
  }
  if (cgroup.known && cgroup.value !== null && cgroup.value !== proven.cgroup) {
    reasons.push(`the slice of tenant ${tenant} was made anew after the proof: the cgroup rule no longer matches it`);
  }
  return reasons;
}
