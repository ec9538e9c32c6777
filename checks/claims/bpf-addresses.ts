import { slicePath } from '../../profiles/names.js';
import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';

/**
 * The layer that is left when somebody flushes the ruleset. A host that cannot attach the program says "no effect" in its
 * log and goes on, and `systemctl set-property` lifts it (systemd.resource-control(5), IPAddressDeny=).
 */
export const bpfAddresses: StateClaim = {
  type: 'state',
  id: 'bpf.addresses',
  claim: "the slice's own address filter lets only the proxy's address through, where no rule of nft is in reach",
  layer: 'bpf',
  hint: 'watertight provision HOST',
  judge: ({ tenant, addressFilter }) => {
    if (addressFilter.kind === 'unknown') return inconclusive(addressFilter.reason);
    const { within, outside } = addressFilter;
    if (!within.cgroup.startsWith(`0::/${slicePath(tenant)}/`)) {
      return inconclusive(`it was tried in ${within.cgroup}, not in the slice`);
    }
    if (outside.denied !== 'arrived' || outside.allowed !== 'arrived') {
      return inconclusive(`the control, outside the slice, did not arrive (${outside.denied}, ${outside.allowed})`);
    }
    if (within.denied === 'arrived')
      return disproved('a datagram to another address arrived: the filter has no effect');
    if (within.allowed !== 'arrived') {
      return disproved(`a datagram to the proxy's address did not arrive (${within.allowed})`);
    }
    return proven(`another address: ${within.denied}; the proxy's address: arrived; outside the slice both arrived`);
  },
};
