import {
  PARENT_SLICE,
  PATHS,
  PROOF_UNIT,
  policyPath,
  proxyServiceUnit,
  proxySocketUnit,
  RULESET_UNIT,
  sliceUnit,
} from './names.js';
import { renderRuleset } from './nftables.js';
import { renderPolicy } from './policy.js';
import type { HostProfile, ProfileFile, ProfileUnit, RenderedHost } from './profile.js';
import { renderProofUnit } from './proof-unit.js';
import { renderProxyUnits } from './proxy-units.js';
import { renderRulesetUnit } from './ruleset-unit.js';
import { renderSlices } from './slices.js';
import { renderSudoers } from './sudoers.js';
import { unitPath } from './unit-file.js';
import { renderUsers } from './users.js';

/** What the programs on a host need: the rules, the interpreter, the confined child's attempts, the launcher. */
const PACKAGES = ['nftables', 'nodejs', 'python3', 'sudo', 'iproute2', 'util-linux'] as const;

/**
 * Everything that a contained host holds, but for the program bundle. Pure: the same profile gives the same bytes. In the
 * order in which it may be put there: rules and proxy first, permission to launch last.
 */
export function renderHost(profile: HostProfile): RenderedHost {
  return {
    packages: PACKAGES,
    users: renderUsers(profile),
    files: [
      ...renderSlices(profile),
      renderRuleset(profile),
      renderRulesetUnit(profile),
      ...profile.tenants.flatMap((tenant) => [renderPolicy(tenant), ...renderProxyUnits(tenant)]),
      renderProofUnit(profile),
      commandFront(),
      profileFile(profile),
    ],
    units: renderUnits(profile),
    permissions: profile.tenants.flatMap((tenant) => renderSudoers(tenant) ?? []),
  };
}

/** What is to run. Slices come before the ruleset, which stores their cgroups' ids. */
function renderUnits({ tenants }: HostProfile): readonly ProfileUnit[] {
  const slices = [PARENT_SLICE, ...tenants.map(({ name }) => sliceUnit(name))];
  return [
    // Restarting a slice would end the work in it and give it another cgroup; its settings take effect on daemon-reload.
    ...slices.map((name) => ({ name, enabled: false, active: true, onChange: [] })),
    {
      name: RULESET_UNIT,
      enabled: true,
      active: true,
      onChange: [{ paths: [PATHS.ruleset, unitPath(RULESET_UNIT)], action: 'reload' }],
    },
    ...tenants.flatMap(({ name }) => proxyUnits(name)),
    // For the next boot: provision proves this one itself.
    { name: PROOF_UNIT, enabled: true, active: false, onChange: [] },
  ];
}

/**
 * A new policy is read by the running proxy, so that no tunnel is dropped; a new program or unit file restarts it behind
 * its socket, which keeps new connections waiting meanwhile. Only another address needs another socket.
 */
function proxyUnits(tenant: string): readonly ProfileUnit[] {
  const [socket, service] = [proxySocketUnit(tenant), proxyServiceUnit(tenant)];
  const onSocket = [unitPath(socket)];
  return [
    { name: socket, enabled: true, active: true, onChange: [{ paths: onSocket, action: 'restart' }] },
    {
      name: service,
      enabled: false,
      active: false,
      onChange: [
        // It requires its socket, and restarts with it (systemd.unit(5), Requires=).
        { paths: onSocket, action: 'none' },
        { paths: [unitPath(service), PATHS.bundle], action: 'try-restart' },
        { paths: [policyPath(tenant)], action: 'try-reload-or-restart' },
      ],
    },
  ];
}

/** The command that people and sudoers name. */
function commandFront(): ProfileFile {
  const content = [
    '#!/bin/sh',
    '# Variables by which Node loads foreign code, should a host let them through sudo.',
    'unset NODE_OPTIONS NODE_PATH',
    `exec /usr/bin/node ${PATHS.bundle} "$@"`,
    '',
  ].join('\n');
  return { path: PATHS.command, content, mode: 0o755, owner: 'root', group: 'root' };
}

/** What this host was made from: the programs on it read it back as root. It holds every tenant's allowlist. */
function profileFile(profile: HostProfile): ProfileFile {
  const content = `${JSON.stringify(profile, null, 2)}\n`;
  return { path: PATHS.profile, content, mode: 0o600, owner: 'root', group: 'root' };
}
