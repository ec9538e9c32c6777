import type { Configuration, TenantEntry } from '../core/configuration/configuration.js';
import { nearestOf } from '../core/configuration/nearest.js';
import { deriveProxyAddress, PROXY_PORT } from '../core/configuration/proxy-address.js';
import { UsageFailure } from '../core/failure.js';
import type { HostProfile, TenantProfile } from './profile.js';

/**
 * What a host is to become, by the configuration. Tenants come in the order of their names, so that the same
 * configuration always renders the same host.
 *
 * @throws UsageFailure, exit 64, where the configuration has no such host; it names the nearest one.
 */
export function hostProfile(configuration: Configuration, hostName: string): HostProfile {
  const host = configuration.hosts.get(hostName);
  if (!host) {
    const nearest = nearestOf(hostName, [...configuration.hosts.keys()]);
    throw new UsageFailure(`${configuration.path} has no host of that name: ${nearest.said}`, nearest.hint);
  }
  const tenants = host.tenants.flatMap((name) => configuration.tenants.get(name) ?? []).map(tenantProfile);
  return { version: 1, host: host.name, tenants: tenants.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** One tenant with its proxy's endpoint settled. */
function tenantProfile(tenant: TenantEntry): TenantProfile {
  return {
    name: tenant.name,
    allow: tenant.allow,
    runtimes: tenant.runtimes,
    ...(tenant.deny && { deny: tenant.deny }),
    ...(tenant.limits && { limits: tenant.limits }),
    ...(tenant.methods && { methods: tenant.methods }),
    ...(tenant.sni && { sni: tenant.sni }),
    proxy: {
      address: tenant.proxy?.address ?? deriveProxyAddress(tenant.name),
      port: tenant.proxy?.port ?? PROXY_PORT,
    },
  };
}
