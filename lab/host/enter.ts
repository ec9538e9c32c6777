import { join } from 'node:path';
import type { HostCgroups } from '../cgroup.js';

/** What a root login on the host would have. */
const ENVIRONMENT = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'USER=root',
  'LANG=C.UTF-8',
] as const;

/**
 * Joins the host's cgroups first, so that what runs is capped, visible to the host and ended with it; then its
 * namespaces. The inner directory is one that the host's systemd does not know and leaves alone.
 */
const JOIN = `set -eu
pid=$1 payload=$2; shift 2
mkdir -p "$payload/lab-exec"
echo 0 >"$payload/lab-exec/cgroup.procs"
for cap in $CAPS; do echo 0 >"$cap/cgroup.procs"; done
unset CAPS
exec nsenter --target "$pid" --mount --uts --ipc --net --pid --cgroup --root --wd "$@"`;

/** The command that runs `command` as root inside a host, with what it needs in its environment. */
export function enterCommand(
  cgroups: HostCgroups,
  initPid: number,
  command: readonly string[],
): {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const term = process.env.TERM ? [`TERM=${process.env.TERM}`] : [];
  const payload = join(cgroups.unified, 'payload');
  const inside = ['/usr/bin/env', '-i', ...ENVIRONMENT, ...term, ...command];
  return {
    program: 'sh',
    args: ['-c', JOIN, 'sh', String(initPid), payload, ...inside],
    environment: { CAPS: cgroups.caps.join(' ') },
  };
}
