import type { ChildIdentity } from '../child-identity.js';
import type { StateClaim } from '../claim.js';
import { disproved, inconclusive, proven } from '../judges/judgement.js';

/** The kernel's word for a process that is filtered by a seccomp program (proc(5), Seccomp). */
const SECCOMP_FILTER = 2;

/** Each thing that has to be so, with what it is where it is not. */
const CONDITIONS: readonly {
  readonly holds: (c: ChildIdentity, uid: number) => boolean;
  readonly fault: (c: ChildIdentity) => string;
}[] = [
  {
    holds: ({ uids }, uid) => uids.every((value) => value === uid),
    fault: ({ uids }) => `it runs with the uids ${uids.join(' ')}`,
  },
  { holds: ({ groups }) => groups.length <= 1, fault: ({ groups }) => `it is in the groups ${groups.join(' ')}` },
  {
    holds: ({ effective }) => /^0+$/.test(effective),
    fault: ({ effective }) => `it has the capabilities ${effective}`,
  },
  {
    holds: ({ bounding }) => /^0+$/.test(bounding),
    fault: ({ bounding }) => `it may gain the capabilities ${bounding}`,
  },
  { holds: ({ noNewPrivileges }) => noNewPrivileges, fault: () => 'setuid programs would gain it privileges' },
  { holds: ({ seccomp }) => seccomp === SECCOMP_FILTER, fault: () => 'no seccomp filter holds it' },
  {
    holds: ({ descriptors }) => !descriptors.some((link) => link.startsWith('socket:')),
    fault: ({ descriptors }) =>
      `it inherited ${descriptors.filter((link) => link.startsWith('socket:')).length} sockets`,
  },
];

export const sandboxProcess: StateClaim = {
  type: 'state',
  id: 'sandbox.process',
  claim: "the confined process has the tenant's uid, no capability, no way to gain one, and no inherited socket",
  layer: 'sandbox',
  hint: 'watertight provision HOST',
  judge: ({ child, uid }) => {
    if (uid === null) return disproved("the tenant's user does not exist");
    if (child.kind === 'unknown') return inconclusive(child.reason);
    const faults = CONDITIONS.filter(({ holds }) => !holds(child.identity, uid)).map(({ fault }) =>
      fault(child.identity),
    );
    if (faults.length > 0) return disproved(faults.join('; '));
    return proven(`uid ${uid}, no capabilities, no new privileges, seccomp filter`);
  },
};
