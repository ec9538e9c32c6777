import { PROXY_USER, tenantUser } from './names.js';
import type { HostProfile, ProfileUser } from './profile.js';

/** System users without a home and without a login: one for the proxies, one for each tenant's confined work. */
export function renderUsers(profile: HostProfile): readonly ProfileUser[] {
  return [
    { name: PROXY_USER, comment: 'watertight proxies' },
    ...profile.tenants.map(({ name }) => ({ name: tenantUser(name), comment: `watertight tenant ${name}` })),
  ];
}
