import { PARENT_SLICE, sliceUnit } from './names.js';
import type { HostProfile, ProfileFile, TenantProfile } from './profile.js';
import { unitFile } from './unit-file.js';

/** Limits for one tenant: generous for a browser with many tabs, and a wall for a fork bomb or a leak. */
const LIMITS = [
  ['TasksAccounting', 'yes'],
  ['TasksMax', '4096'],
  ['MemoryAccounting', 'yes'],
  ['MemoryMax', '75%'],
  ['CPUAccounting', 'yes'],
] as const;

/** The parent slice and one slice a tenant. */
export function renderSlices(profile: HostProfile): readonly ProfileFile[] {
  return [parentSlice(), ...profile.tenants.map(tenantSlice)];
}

/**
 * A slice below adds its IPAddressAllow= to the parent's denial, and what runs in the parent alone reaches nothing
 * (measured, systemd 252; systemd.resource-control(5) combines the lists of all parents).
 */
function parentSlice(): ProfileFile {
  return unitFile(PARENT_SLICE, [
    ['Unit', [['Description', 'Confined work of all watertight tenants']]],
    [
      'Slice',
      [
        ['IPAddressDeny', 'any'],
        ['CPUAccounting', 'yes'],
      ],
    ],
  ]);
}

/**
 * Layer 3: a BPF filter on the cgroup, which outlives a flushed ruleset and a recreated slice. It knows addresses, not
 * ports, so the tenant's proxy has an address of its own.
 */
function tenantSlice(tenant: TenantProfile): ProfileFile {
  return unitFile(sliceUnit(tenant.name), [
    ['Unit', [['Description', `Confined work of watertight tenant ${tenant.name}`]]],
    ['Slice', [['IPAddressDeny', 'any'], ['IPAddressAllow', tenant.proxy.address], ...LIMITS]],
  ]);
}
