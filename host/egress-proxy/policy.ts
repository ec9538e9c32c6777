import type { CanonicalHost } from './authority.js';
import { classifyAddress } from './classify.js';
import type { PolicyFile } from './policy-file.js';
import { ALL_PORTS, DEFAULT_PORTS, type PortRange } from './ports.js';
import type { DenyReason, PassReason } from './reasons.js';
import { addRule, emptyTable, entryOf, match, tableOf } from './rule-table.js';

/** What the policy says of a host and port, before any DNS. */
export type PolicyDecision =
  | { readonly verdict: 'pass'; readonly reason: PassReason; readonly rule: string; readonly pin: string | null }
  | { readonly verdict: 'deny'; readonly reason: DenyReason; readonly rule: string };

/** A policy in the form in which it is asked: lookups cost a Map access a label, whatever the number of entries. */
export interface Policy {
  readonly tenant: string;
  readonly mode: PolicyFile['mode'];
  readonly sni: NonNullable<PolicyFile['sni']>;
  /** Limits of the tenant's own, where it has some. */
  readonly limits: NonNullable<PolicyFile['limits']>;
  /** Methods that plain HTTP may use; null: all. */
  readonly methods: ReadonlySet<string> | null;
  readonly decide: (host: CanonicalHost, port: number) => PolicyDecision;
  /** What a person should know of this policy, said loudly when it is loaded. */
  readonly warnings: readonly string[];
}

/** Policy of a validated file. */
export function compilePolicy(file: PolicyFile): Policy {
  const allow = tableOf(file.allow, DEFAULT_PORTS);
  const deny = tableOf(file.deny ?? [], ALL_PORTS);
  const pins = emptyTable();
  for (const pin of file.pins) {
    const ports = pin.ports.map((port): PortRange => [port, port]);
    addRule(pins, entryOf(pin.name), { rule: `pin ${pin.name}`, ports, pin: pin.address });
  }
  const unlisted: DenyReason = file.allow.length === 0 ? 'policy-empty' : 'not-listed';
  const decide = (host: CanonicalHost, port: number): PolicyDecision => {
    const pin = host.kind === 'name' ? match(pins, host, port) : { kind: 'none' as const };
    if (pin.kind === 'rule') return { verdict: 'pass', reason: 'pinned', rule: pin.rule.rule, pin: pin.rule.pin };
    const denied = match(deny, host, port);
    if (denied.kind === 'rule') return refuse(file, host, 'deny-listed', denied.rule.rule);
    const allowed = match(allow, host, port);
    if (allowed.kind === 'rule') return { verdict: 'pass', reason: 'allowed', rule: allowed.rule.rule, pin: null };
    if (allowed.kind === 'other-port') return refuse(file, host, 'port-not-listed', '');
    return refuse(file, host, host.kind === 'address' ? 'address-not-listed' : unlisted, '');
  };
  return {
    tenant: file.tenant,
    mode: file.mode,
    sni: file.sni ?? 'off',
    limits: file.limits ?? {},
    methods: file.methods === undefined ? null : new Set(file.methods),
    decide,
    warnings: warningsOf(file),
  };
}

/** Policy for a tenant without one: it denies everything. */
export function missingPolicy(why: string): Policy {
  return {
    tenant: '',
    mode: 'enforce',
    sni: 'off',
    limits: {},
    methods: null,
    decide: () => ({ verdict: 'deny', reason: 'policy-missing', rule: '' }),
    warnings: [`there is no policy (${why}): everything is denied`],
  };
}

/** In report mode names pass and the line says what would have been; an address still needs an entry. */
const REPORTED: Partial<Record<DenyReason, PassReason>> = {
  'not-listed': 'report-not-listed',
  'policy-empty': 'report-not-listed',
  'port-not-listed': 'report-port-not-listed',
  'deny-listed': 'report-deny-listed',
};

function refuse(file: PolicyFile, host: CanonicalHost, reason: DenyReason, rule: string): PolicyDecision {
  const reported = file.mode === 'report' && host.kind === 'name' ? REPORTED[reason] : undefined;
  if (reported !== undefined) return { verdict: 'pass', reason: reported, rule, pin: null };
  return { verdict: 'deny', reason, rule };
}

function warningsOf(file: PolicyFile): string[] {
  const warnings: string[] = [];
  if (file.allow.length === 0) warnings.push('the allowlist is empty: everything but pins is denied');
  if (file.mode === 'report') warnings.push('mode is report: names that are not listed PASS and are only logged');
  for (const text of file.allow) {
    const entry = entryOf(text);
    if (entry.match === 'below' && !entry.host.includes('.')) {
      warnings.push(`the entry ${JSON.stringify(text)} allows a whole top-level domain`);
    }
    if (entry.kind === 'address' && classifyAddress(entry.host).kind === 'forbidden') {
      warnings.push(`the entry ${JSON.stringify(text)} has no effect: this address is not a public one`);
    }
  }
  return warnings;
}
