import { PARENT_SLICE, PATHS, RULESET_UNIT, sliceUnit } from './names.js';
import type { HostProfile, ProfileFile } from './profile.js';
import { unitFile } from './unit-file.js';

/**
 * Loads the ruleset at boot, once the slices exist: a rule stores the id that a cgroup has at the moment of the load.
 * `PartOf=` and `ReloadPropagatedFrom=` bring the table back after nftables.service, whose restart and reload flush every
 * table of the host. There is no ExecStop: stopping the unit leaves the rules where they are.
 */
export function renderRulesetUnit(profile: HostProfile): ProfileFile {
  const slices = [PARENT_SLICE, ...profile.tenants.map(({ name }) => sliceUnit(name))].join(' ');
  const load = `/usr/sbin/nft -f ${PATHS.ruleset}`;
  return unitFile(RULESET_UNIT, [
    [
      'Unit',
      [
        ['Description', 'Ruleset of watertight'],
        // Without the default dependencies: cloud-init.service runs after the network and before sysinit.target, and
        // Before=network-pre.target together with After=sysinit.target would then be a cycle.
        ['DefaultDependencies', 'no'],
        ['Conflicts', 'shutdown.target'],
        ['Wants', `network-pre.target ${slices}`],
        ['After', `local-fs.target nftables.service ${slices}`],
        ['Before', 'network-pre.target shutdown.target'],
        ['PartOf', 'nftables.service'],
        ['ReloadPropagatedFrom', 'nftables.service'],
      ],
    ],
    [
      'Service',
      [['Type', 'oneshot'], ['RemainAfterExit', 'yes'], ['ExecStart', load], ['ExecReload', load], ...HARDENING],
    ],
    ['Install', [['WantedBy', 'multi-user.target']]],
  ]);
}

const HARDENING = [
  ['CapabilityBoundingSet', 'CAP_NET_ADMIN'],
  ['NoNewPrivileges', 'yes'],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['ProtectControlGroups', 'yes'],
  ['PrivateDevices', 'yes'],
  ['RestrictAddressFamilies', 'AF_NETLINK AF_UNIX'],
  ['RestrictNamespaces', 'yes'],
  ['MemoryDenyWriteExecute', 'yes'],
  ['LockPersonality', 'yes'],
  ['SystemCallArchitectures', 'native'],
  ['SystemCallFilter', '@system-service'],
] as const;
