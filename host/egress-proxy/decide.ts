import { type Authority, hostText } from './authority.js';
import { classifyAddress } from './classify.js';
import type { OwnAddress } from './own-addresses.js';
import type { Policy, PolicyDecision } from './policy.js';
import type { DenyReason, FaultReason, PassReason } from './reasons.js';
import { type Lookup, resolveWithin } from './resolve.js';

/** The whole decision, and how long the name's resolution took. */
export type Decision = Judgement & { readonly dnsMs: number };

/** What the policy says, then what the addresses are. */
type Judgement =
  | {
      readonly kind: 'route';
      readonly reason: PassReason;
      readonly rule: string;
      /** Every one of them was classified, or is the pinned one: connect to these and to nothing else. */
      readonly addresses: readonly string[];
    }
  | {
      readonly kind: 'stop';
      readonly reason: DenyReason | FaultReason;
      readonly rule: string;
      /** The address that decided; empty where none did. */
      readonly address: string;
    };

export interface World {
  readonly lookup: Lookup;
  readonly isOwn: OwnAddress;
  readonly resolveMs: number;
}

/** Decides on a name before any DNS query, then resolves it and judges every answer: one bad answer denies. */
export async function decide(target: Authority, method: string, policy: Policy, world: World): Promise<Decision> {
  const said = withMethod(policy.decide(target.host, target.port), method, policy);
  if (said.verdict === 'deny') return { kind: 'stop', reason: said.reason, rule: said.rule, address: '', dnsMs: 0 };
  const { reason, rule } = said;
  if (said.pin !== null) return { kind: 'route', reason, rule, addresses: [said.pin], dnsMs: 0 };
  if (target.host.kind === 'address') return { ...judge([target.host.address], reason, rule, world.isOwn), dnsMs: 0 };
  const askedAt = performance.now();
  const resolved = await resolveWithin(world.lookup, hostText(target.host), world.resolveMs);
  const dnsMs = performance.now() - askedAt;
  if (!resolved.ok) return { kind: 'stop', reason: resolved.reason, rule, address: '', dnsMs };
  return { ...judge(resolved.addresses, reason, rule, world.isOwn), dnsMs };
}

/** What the policy says of a method of plain HTTP, once the name passed. Pinned names are verification's own. */
function withMethod(said: PolicyDecision, method: string, { methods, mode }: Policy): PolicyDecision {
  const fits = methods === null || method === 'CONNECT' || methods.has(method);
  if (fits || said.verdict === 'deny' || said.reason === 'pinned') return said;
  if (mode === 'report') return { ...said, reason: 'report-method-not-listed' };
  return { verdict: 'deny', reason: 'method-not-listed', rule: said.rule };
}

function judge(addresses: readonly string[], reason: PassReason, rule: string, isOwn: OwnAddress): Judgement {
  for (const address of addresses) {
    const judged = classifyAddress(address);
    if (judged.kind === 'forbidden') return { kind: 'stop', reason: 'address-forbidden', rule: judged.range, address };
    const own = isOwn(address);
    if (own === null) return { kind: 'stop', reason: 'own-addresses-unknown', rule: '', address };
    if (own) return { kind: 'stop', reason: 'address-own', rule: '', address };
  }
  return { kind: 'route', reason, rule, addresses };
}
