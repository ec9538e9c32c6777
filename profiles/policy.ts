import type { SniMode, TenantLimits } from '../core/configuration/configuration.js';
import { SINK_ADDRESS, SINK_PORTS } from '../core/configuration/proxy-address.js';
import { RESERVED_DOMAIN } from './allow-pattern.js';
import { PROXY_USER, policyPath } from './names.js';
import type { ProfileFile, TenantProfile } from './profile.js';

/** What a tenant's proxy allows, as it reads it from its file. */
export interface ProxyPolicy {
  readonly version: 1;
  readonly tenant: string;
  readonly mode: 'enforce';
  readonly sni?: SniMode;
  readonly limits?: TenantLimits;
  readonly methods?: readonly string[];
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
  /** Names that resolve to a fixed address, which needs no classification: the verifier's own sinks. */
  readonly pins: readonly { readonly name: string; readonly address: string; readonly ports: readonly number[] }[];
}

/** The policy file, readable by the proxy alone. */
export function renderPolicy(tenant: TenantProfile): ProfileFile {
  const policy: ProxyPolicy = {
    version: 1,
    tenant: tenant.name,
    mode: 'enforce',
    ...(tenant.sni && { sni: tenant.sni }),
    ...(tenant.limits && { limits: tenant.limits }),
    ...(tenant.methods && { methods: tenant.methods }),
    allow: tenant.allow,
    ...(tenant.deny && { deny: tenant.deny }),
    pins: [{ name: `*.sink.${RESERVED_DOMAIN}`, address: SINK_ADDRESS, ports: [SINK_PORTS.http, SINK_PORTS.tunnel] }],
  };
  const content = `${JSON.stringify(policy, null, 2)}\n`;
  return { path: policyPath(tenant.name), content, mode: 0o640, owner: 'root', group: PROXY_USER };
}
