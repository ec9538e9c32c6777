import { PATHS, PROOF_UNIT, proxySocketUnit, RULESET_UNIT } from './names.js';
import type { HostProfile, ProfileFile } from './profile.js';
import { unitFile } from './unit-file.js';

/**
 * Proves containment anew at each boot: the launcher refuses on a proof of another boot, so that without this a reboot
 * would end all work until somebody runs verify. Where the proof fails so does the unit, and the launcher goes on to refuse.
 */
export function renderProofUnit({ tenants }: HostProfile): ProfileFile {
  const sockets = tenants.map(({ name }) => proxySocketUnit(name));
  return unitFile(PROOF_UNIT, [
    [
      'Unit',
      [
        ['Description', 'Proof of containment by watertight'],
        ['After', ['network.target', RULESET_UNIT, ...sockets].join(' ')],
      ],
    ],
    [
      'Service',
      [
        ['Type', 'oneshot'],
        ['ExecStart', `${PATHS.command} verify --local --format tap`],
        ['TimeoutStartSec', '180'],
      ],
    ],
    ['Install', [['WantedBy', 'multi-user.target']]],
  ]);
}
