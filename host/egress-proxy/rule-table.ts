import type { CanonicalHost } from './authority.js';
import { type PolicyEntry, parseEntry } from './entry.js';
import { includesPort, type PortRange } from './ports.js';

/** What an entry or a pin says of its host. */
export interface Rule {
  readonly rule: string;
  readonly ports: readonly PortRange[];
  readonly pin: string | null;
}

/** Rules by host: of this name or address, and of every name below one. */
export interface RuleTable {
  readonly exact: Map<string, Rule[]>;
  readonly below: Map<string, Rule[]>;
}

/** `other-port`: there are rules for the host, and none for its port. */
export type Match =
  | { readonly kind: 'rule'; readonly rule: Rule }
  | { readonly kind: 'other-port' }
  | { readonly kind: 'none' };

/** A table without rules. */
export const emptyTable = (): RuleTable => ({ exact: new Map(), below: new Map() });

/** Adds a rule under its entry's host. */
export function addRule(table: RuleTable, entry: PolicyEntry, rule: Rule): void {
  const map = entry.match === 'exact' ? table.exact : table.below;
  const rules = map.get(entry.host);
  if (rules === undefined) map.set(entry.host, [rule]);
  else rules.push(rule);
}

/** Finds the rule of a host and port: a Map access a label, whatever the number of rules. */
export function match(table: RuleTable, host: CanonicalHost, port: number): Match {
  let otherPort = false;
  const pick = (rules: readonly Rule[] | undefined): Rule | undefined => {
    if (rules === undefined) return undefined;
    otherPort = true;
    return rules.find((rule) => includesPort(rule.ports, port));
  };
  const name = host.kind === 'name' ? host.name : host.address;
  let found = pick(table.exact.get(name));
  if (host.kind === 'name') {
    for (let dot = name.indexOf('.'); found === undefined && dot !== -1; dot = name.indexOf('.', dot + 1)) {
      found = pick(table.below.get(name.slice(dot + 1)));
    }
  }
  if (found !== undefined) return { kind: 'rule', rule: found };
  return { kind: otherPort ? 'other-port' : 'none' };
}

/** The table of validated entries. */
export function tableOf(entries: readonly string[], portsWhereNoneNamed: readonly PortRange[]): RuleTable {
  const table = emptyTable();
  for (const text of entries) {
    const entry = entryOf(text);
    addRule(table, entry, { rule: text, ports: entry.ports ?? portsWhereNoneNamed, pin: null });
  }
  return table;
}

/** An entry that was validated before. */
export function entryOf(text: string): PolicyEntry {
  const parsed = parseEntry(text);
  if (!parsed.ok) throw new TypeError(`unvalidated policy entry ${JSON.stringify(text)}`);
  return parsed.value;
}
