/** What a tenant's things are called on a host. Every other module asks here, so that a name is spelled in one place. */

export { TENANT_NAME, UNIX_USER } from '../core/configuration/grammar.js';

/** The nftables table that holds every tenant's rules. */
export const TABLE = 'watertight';
/** Parent slice: whatever runs in it and belongs to no tenant is dropped. */
export const PARENT_SLICE = 'watertight.slice';
/** System user that the proxies run as, and the group that may read policies. */
export const PROXY_USER = 'watertight';
/** Counter of packets from the parent slice that belong to no tenant. */
export const STRAY_COUNTER = 'stray';
/** Chains on the hooks, and the verdict maps that send a packet on to its tenant's chain. Objects of
 * different kinds do not share names in nft, and a tenant's chain always ends in `_output` or `_input`. */
export const BASE_CHAINS = { output: 'output', input: 'input' } as const;
export const VERDICT_MAPS = {
  cgroupsOut: 'tenant_cgroups_out',
  usersOut: 'tenant_users_out',
  cgroupsIn: 'tenant_cgroups_in',
} as const;
/** Loads the ruleset at boot, after the slices exist. */
export const RULESET_UNIT = 'watertight-ruleset.service';
/** Proves containment at boot, once the ruleset and the proxies are there. */
export const PROOF_UNIT = 'watertight-verify.service';

/** Where things stand on a host. */
export const PATHS = {
  library: '/usr/lib/watertight',
  bundle: '/usr/lib/watertight/watertight.mjs',
  command: '/usr/sbin/watertight',
  configuration: '/etc/watertight',
  profile: '/etc/watertight/profile.json',
  ruleset: '/etc/watertight/watertight.nft',
  tenants: '/etc/watertight/tenants',
  state: '/var/lib/watertight',
  run: '/run/watertight',
  lock: '/run/watertight/lock',
  attestation: '/run/watertight/attestation.json',
  units: '/etc/systemd/system',
  sudoers: '/etc/sudoers.d',
} as const;

/** Kinds of counter that each tenant has. */
export const COUNTER_KINDS = ['proxy', 'udp', 'tcp', 'other', 'inbound'] as const;
export type CounterKind = (typeof COUNTER_KINDS)[number];

/** Name of a tenant's named counter, for example `acme_udp`. */
export function counterName(tenant: string, kind: CounterKind): string {
  return `${tenant}_${kind}`;
}

/** Chain that decides what a tenant's processes send. */
export function outputChain(tenant: string): string {
  return `${tenant}_output`;
}

/** Chain that decides who may open a connection to a tenant's processes. */
export function inputChain(tenant: string): string {
  return `${tenant}_input`;
}

/**
 * A hyphen in a slice's name makes a child slice (systemd.slice(5)), which would put the tenant one level deeper than
 * the rules look; so hyphens are escaped as systemd-escape(1) does.
 */
function escapeForUnit(tenant: string): string {
  return tenant.replaceAll('-', '\\x2d');
}

/** The tenant's slice unit, for example `watertight-acme.slice`. */
export function sliceUnit(tenant: string): string {
  return `watertight-${escapeForUnit(tenant)}.slice`;
}

/** The tenant's cgroup, relative to the cgroup2 root, as nft wants it. */
export function slicePath(tenant: string): string {
  return `${PARENT_SLICE}/${sliceUnit(tenant)}`;
}

/** System user that the tenant's confined processes run as. */
export function tenantUser(tenant: string): string {
  return `wt-${tenant}`;
}

/** Socket unit on which the tenant's proxy listens. */
export function proxySocketUnit(tenant: string): string {
  return `watertight-proxy@${escapeForUnit(tenant)}.socket`;
}

/** The tenant's proxy. */
export function proxyServiceUnit(tenant: string): string {
  return `watertight-proxy@${escapeForUnit(tenant)}.service`;
}

/** The tenant's policy, as its proxy reads it. */
export function policyPath(tenant: string): string {
  return `${PATHS.tenants}/${tenant}/policy.json`;
}

/** Folder that systemd makes for the tenant's proxy below /run, while it runs. */
export function proxyRuntimeFolder(tenant: string): string {
  return `watertight/proxy-${tenant}`;
}

/** Unix socket on which the tenant's proxy answers for its metrics and status. */
export function proxyStatusPath(tenant: string): string {
  return `/run/${proxyRuntimeFolder(tenant)}/status.sock`;
}

/** Drop-in that lets the tenant's runtimes launch confined work, and nothing else. */
export function sudoersPath(tenant: string): string {
  // sudo skips drop-ins with a dot in the name (sudoers(5)); tenant names have none.
  return `${PATHS.sudoers}/watertight-${tenant}`;
}
