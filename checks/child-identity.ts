/** A process as the kernel shows it to the host: read from /proc/PID by the verifier, outside the sandbox. */
export interface ChildIdentity {
  readonly pid: number;
  readonly uids: readonly number[];
  readonly groups: readonly number[];
  /** Effective and bounding capability sets, hexadecimal (proc(5), CapEff and CapBnd). */
  readonly effective: string;
  readonly bounding: string;
  readonly noNewPrivileges: boolean;
  /** 0 none, 1 strict, 2 filter (proc(5), Seccomp). */
  readonly seccomp: number;
  /** Path of its cgroup, relative to the cgroup2 root. */
  readonly cgroup: string;
  /** Inode of the cgroup folder two levels down from the root: the tenant's slice, if all is well. */
  readonly sliceInode: number | null;
  /** What its descriptors beyond the standard ones lead to. */
  readonly descriptors: readonly string[];
}

/** Reads /proc/PID/status. @returns null where a field is missing */
export function parseStatus(text: string): Omit<ChildIdentity, 'pid' | 'cgroup' | 'sliceInode' | 'descriptors'> | null {
  const fields = new Map(text.split('\n').map((line) => line.split(':\t', 2) as [string, string]));
  const numbers = (name: string) => (fields.get(name) ?? '').split(/\s+/).filter(Boolean).map(Number);
  const [uids, effective, bounding] = [numbers('Uid'), fields.get('CapEff'), fields.get('CapBnd')];
  const [noNewPrivileges] = numbers('NoNewPrivs');
  const [seccomp] = numbers('Seccomp');
  if (uids.length !== 4 || effective === undefined || bounding === undefined) return null;
  if (noNewPrivileges === undefined || seccomp === undefined) return null;
  return {
    uids,
    groups: numbers('Groups'),
    effective: effective.trim(),
    bounding: bounding.trim(),
    noNewPrivileges: noNewPrivileges === 1,
    seccomp,
  };
}
