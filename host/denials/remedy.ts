import { parseAllowPattern } from '../../profiles/allow-pattern.js';
import { classifyAddress } from '../egress-proxy/classify.js';
import { REASONS, type Reason } from '../egress-proxy/reasons.js';

/** What would let a denied request pass. */
export type Remedy =
  /** This entry, in the tenant's allowlist. */
  | { readonly kind: 'entry'; readonly entry: string }
  /** No entry would: why, in a few words. */
  | { readonly kind: 'none'; readonly why: string };

/** The target of a denied request, and the rule that denied it. */
export interface Denied {
  readonly host: string;
  readonly port: number;
  readonly reason: Reason;
  readonly rule: string;
}

const none = (why: string): Remedy => ({ kind: 'none', why });

/** Tells what would allow a target, by the reason of its denial. */
export function remedyFor(denied: Denied): Remedy {
  switch (denied.reason) {
    case 'not-listed':
    case 'policy-empty':
    case 'port-not-listed':
    case 'report-not-listed':
    case 'report-port-not-listed':
      return entryFor(denied.host, denied.port);
    case 'address-not-listed':
      return classifyAddress(denied.host).kind === 'public'
        ? entryFor(denied.host.includes(':') ? `[${denied.host}]` : denied.host, denied.port)
        : none('never: not a public address');
    case 'deny-listed':
    case 'report-deny-listed':
      return none(`the entry ${denied.rule} denies it`);
    case 'policy-missing':
      return none('there is no policy: provision the host');
    case 'address-forbidden':
    case 'address-own':
    case 'address-spelling':
      return none(`never: ${REASONS[denied.reason].text}`);
    case 'report-method-not-listed':
      return none(REASONS['method-not-listed'].text);
    case 'report-sni-mismatch':
      return none(REASONS['sni-mismatch'].text);
    case 'report-sni-absent':
      return none(REASONS['sni-absent'].text);
    case 'report-sni-unreadable':
      return none(REASONS['sni-unreadable'].text);
    default:
      return none(REASONS[denied.reason].text);
  }
}

/** What the configuration would refuse is not proposed. */
function entryFor(host: string, port: number): Remedy {
  const entry = port === 80 || port === 443 ? host : `${host}:${port}`;
  const parsed = parseAllowPattern(entry);
  return parsed.ok
    ? { kind: 'entry', entry: parsed.pattern.canonical }
    : none(`not an entry: expected ${parsed.reason}`);
}
