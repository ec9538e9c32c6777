import type { ClaimResult, VerifyEvent } from '../core/events.js';
import type { TenantProfile } from '../profiles/profile.js';
import { CATALOGUE } from './catalogue.js';
import type { AttemptClaim, Claim, Judgement, Observed } from './claim.js';
import type { ChildSession } from './gather/child-session.js';
import { readHostState } from './gather/host-state.js';
import { Trial } from './gather/trial.js';
import type { HostState } from './host-state.js';
import { ledgerRow, totalDue } from './ledger.js';
import type { Scene } from './scene.js';
import type { Stage } from './stage.js';

/** The same program twice: in the tenant's containment, and outside it. */
export interface Children {
  readonly confined: ChildSession;
  readonly control: ChildSession;
}

/**
 * Proves or disproves every claim for one tenant.
 * @param emit is given each claim as soon as it is judged, then the ledger
 * @returns the claims' results
 */
export async function verifyTenant(
  stage: Stage,
  tenant: TenantProfile,
  children: Children,
  emit: (event: VerifyEvent) => void,
): Promise<readonly ClaimResult[]> {
  const results: ClaimResult[] = [];
  const conclude = (claim: Claim, judgement: Judgement, evidence: ClaimResult['evidence']) => {
    const result = resultOf(stage.profile.host, tenant.name, claim, judgement, evidence);
    results.push(result);
    emit({ type: 'claim', ...result });
  };
  const state = await readHostState(stage.local, tenant, stage.ruleset, children.confined);
  for (const claim of CATALOGUE) if (claim.type === 'state') conclude(claim, claim.judge(state), evidenceOf(state));
  const scene: Scene = { tenant, loopback: stage.near.loopback, own: stage.near.own, markers: stage.markers };
  const attemptClaims = CATALOGUE.filter((claim): claim is AttemptClaim => claim.type === 'attempt');
  const trial = await Trial.begin(stage, scene, children, attemptClaims);
  const first = trial.reading;
  const parts: { claim: AttemptClaim; observed: Observed }[] = [];
  for (const claim of attemptClaims) {
    const observed = await trial.try(claim);
    parts.push({ claim, observed });
    conclude(claim, claim.judge(observed), { ...observed });
  }
  const totals = { due: totalDue(parts), counters: trial.movedSince(first) };
  for (const claim of CATALOGUE) if (claim.type === 'ledger') conclude(claim, claim.judge(totals), { ...totals });
  for (const { claim, observed } of parts) {
    const row = ledgerRow(claim, tenant.name, observed);
    if (row !== null) emit({ type: 'ledger', ...row });
  }
  return results;
}

/** The state without the whole listing, which is the same for every claim. */
function evidenceOf({ ruleset, ...rest }: HostState): ClaimResult['evidence'] {
  const said = ruleset.kind === 'listed' ? { kind: ruleset.kind, comparison: ruleset.comparison } : ruleset;
  return { ...rest, ruleset: said };
}

function resultOf(
  host: string,
  tenant: string,
  claim: Claim,
  judgement: Judgement,
  evidence: ClaimResult['evidence'],
): ClaimResult {
  const { id, claim: sentence, layer } = claim;
  const hint = judgement.verdict === 'proven' ? null : claim.hint.replace('HOST', host);
  return { id, tenant, claim: sentence, layer, ...judgement, evidence, hint };
}
