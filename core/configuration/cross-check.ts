import type { ConfigurationProblem } from '../failure.js';
import type { RawConfiguration, RawTenant } from './configuration.js';
import type { ConfigurationDocument } from './document.js';
import { nearest } from './nearest.js';
import { deriveProxyAddress } from './proxy-address.js';
import { shown } from './shown.js';
import { pointer } from './validate.js';

type Report = (path: readonly (string | number)[], value: string, expected: string) => void;

/** What no schema can say: that names refer to something, and that tenants of one host do not share an address. */
export function crossProblems(document: ConfigurationDocument, file: string): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report: Report = (path, value, expected) => {
    problems.push({ file, ...document.locate(path, 'value'), path: pointer(path), value, expected });
  };
  const { hosts, tenants } = document.data as RawConfiguration;
  for (const [name, host] of Object.entries(hosts)) {
    const owners = new Map<string, string>();
    for (const [index, tenant] of host.tenants.entries()) {
      const path = ['hosts', name, 'tenants', index];
      const entry = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
      if (!entry) report(path, shown(tenant), knownTenant(tenant, Object.keys(tenants)));
      else checkAddress(tenant, entry, owners, report, path);
    }
  }
  return problems;
}

function knownTenant(tenant: string, known: readonly string[]): string {
  const near = nearest(tenant, known);
  return near === null ? `one of the tenants ${known.join(', ')}` : `a known tenant; did you mean ${near}?`;
}

function checkAddress(
  tenant: string,
  entry: RawTenant,
  owners: Map<string, string>,
  report: Report,
  path: readonly (string | number)[],
): void {
  const address = entry.proxy?.address ?? deriveProxyAddress(tenant);
  const owner = owners.get(address);
  if (owner === undefined) {
    owners.set(address, tenant);
    return;
  }
  const place = entry.proxy?.address === undefined ? path : ['tenants', tenant, 'proxy', 'address'];
  report(place, shown(address), `an address that tenant ${owner} of the same host does not have; set proxy.address`);
}
