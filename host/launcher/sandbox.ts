import { tenantUser } from '../../profiles/names.js';

/** One systemd property of the unit that confined work runs in, and why it is there. */
export interface SandboxSetting {
  readonly property: string;
  readonly value: string;
  readonly why: string;
}

/** Layer 4: what a confined process may ask of the kernel and may see of the host (systemd.exec(5)). */
export const SANDBOX: readonly SandboxSetting[] = [
  { property: 'NoNewPrivileges', value: 'yes', why: 'setuid programs gain nothing' },
  { property: 'CapabilityBoundingSet', value: '', why: 'no raw sockets, no nft, no setns, whatever it becomes' },
  { property: 'AmbientCapabilities', value: '', why: 'none is inherited either' },
  { property: 'SecureBits', value: 'noroot-locked', why: 'uid 0 in itself gives nothing' },
  {
    property: 'RestrictAddressFamilies',
    value: 'AF_INET AF_INET6 AF_UNIX',
    why: 'no packet, netlink, vsock or Bluetooth sockets; filters socket() only, so nft still has to hold',
  },
  { property: 'SystemCallArchitectures', value: 'native', why: 'the 32-bit entry is not filtered by address family' },
  {
    property: 'SystemCallFilter',
    value: '@system-service @pkey',
    why: 'what services need: no mount, module, reboot, bpf; protection keys are what V8 guards its code with',
  },
  {
    property: 'SystemCallFilter',
    value:
      '~@debug @mount io_uring_setup io_uring_enter io_uring_register process_vm_readv process_vm_writev process_madvise',
    why: 'no ptrace, pidfd_getfd, process_vm_writev on others of its uid; no sockets by io_uring. Not ~@privileged: Chromium has to capset',
  },
  { property: 'SystemCallErrorNumber', value: 'EPERM', why: 'a browser goes on where it may' },
  { property: 'RestrictNamespaces', value: 'yes', why: 'a network namespace of its own would be outside the rules' },
  { property: 'RestrictSUIDSGID', value: 'yes', why: 'leaves no setuid file behind' },
  { property: 'RestrictRealtime', value: 'yes', why: 'cannot starve the host' },
  { property: 'LockPersonality', value: 'yes', why: 'no other execution domain' },
  { property: 'PrivateTmp', value: 'yes', why: 'X11 sockets and other programs files in /tmp are out of sight' },
  { property: 'PrivateDevices', value: 'yes', why: 'no /dev/vsock, no /dev/net/tun' },
  { property: 'PrivateIPC', value: 'yes', why: 'no shared memory with unconfined programs' },
  { property: 'ProtectSystem', value: 'strict', why: 'the host is read-only' },
  { property: 'ProtectHome', value: 'tmpfs', why: 'agent sockets and keys of people are out of sight' },
  { property: 'ProtectProc', value: 'invisible', why: 'other users processes are out of sight' },
  { property: 'ProtectClock', value: 'yes', why: 'cannot move the clock' },
  { property: 'ProtectHostname', value: 'yes', why: 'cannot rename the host' },
  { property: 'ProtectKernelLogs', value: 'yes', why: 'no kernel log' },
  { property: 'ProtectKernelModules', value: 'yes', why: 'no modules, so no new protocol by autoload' },
  { property: 'ProtectKernelTunables', value: 'yes', why: 'no sysctl' },
  { property: 'ProtectControlGroups', value: 'yes', why: 'cgroup files are read-only: it stays where it was put' },
  {
    property: 'TemporaryFileSystem',
    value: '/run:ro /dev/shm:mode=1777',
    why: 'every socket under /run is out of sight: D-Bus, systemd, resolved, container engines, user sessions; and shared memory is its own',
  },
  { property: 'KeyringMode', value: 'private', why: 'no keys of other sessions' },
  { property: 'UMask', value: '0077', why: 'what it writes is its own' },
  { property: 'LimitCORE', value: '0', why: 'no core dumps with page contents' },
  { property: 'OOMPolicy', value: 'stop', why: 'half a browser is not left running' },
  {
    property: 'IgnoreSIGPIPE',
    value: 'no',
    why: 'a program in a pipe ends as it does outside (systemd ignores it for services)',
  },
  { property: 'KillMode', value: 'control-group', why: 'the whole cgroup ends with the main process' },
  { property: 'SendSIGKILL', value: 'yes', why: 'also what ignores SIGTERM' },
  { property: 'TimeoutStopSec', value: '2s', why: 'how long what ignores SIGTERM may stay' },
];

/**
 * What a confined process finds in its environment: the proxy, under every name that programs look for, and an empty
 * bypass list. Nothing of the caller's environment is inherited.
 */
export function confinedEnvironment(proxy: { address: string; port: number }): Readonly<Record<string, string>> {
  const url = `http://${proxy.address}:${proxy.port}`;
  return {
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NO_PROXY: '',
    no_proxy: '',
    PLAYWRIGHT_MCP_PROXY_SERVER: url,
    // Chromium goes past the proxy for loopback and link-local addresses unless the list says this.
    PLAYWRIGHT_MCP_PROXY_BYPASS: '<-loopback>',
  };
}

/** The credentials that confined work runs with: a system user of the tenant's own and no other group. */
export function confinedIdentity(tenant: string): readonly SandboxSetting[] {
  return [
    { property: 'User', value: tenantUser(tenant), why: 'the uid rule (layer 2) holds whatever becomes of the slice' },
    { property: 'Group', value: tenantUser(tenant), why: 'no group of anybody else' },
    { property: 'SupplementaryGroups', value: '', why: 'no docker, no systemd-journal, no sudo' },
  ];
}
