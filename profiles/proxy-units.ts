import {
  PATHS,
  PROXY_USER,
  policyPath,
  proxyRuntimeFolder,
  proxyServiceUnit,
  proxySocketUnit,
  proxyStatusPath,
} from './names.js';
import type { ProfileFile, TenantProfile } from './profile.js';
import { unitFile } from './unit-file.js';

/**
 * The tenant's proxy: a socket on its own loopback address, and the service behind it. Both are whole unit files, not
 * instances of a template, since each socket has an address of its own and a drop-in could be lost on its own.
 */
export function renderProxyUnits(tenant: TenantProfile): readonly ProfileFile[] {
  return [socketUnit(tenant), serviceUnit(tenant)];
}

function socketUnit({ name, proxy }: TenantProfile): ProfileFile {
  return unitFile(proxySocketUnit(name), [
    ['Unit', [['Description', `Proxy socket of watertight tenant ${name}`]]],
    [
      'Socket',
      [
        ['ListenStream', `${proxy.address}:${proxy.port}`],
        ['Accept', 'no'],
        ['NoDelay', 'yes'],
        // systemd puts a unit with an `@` into a slice that it makes for the prefix, and which then outlives the unit.
        ['Slice', 'system.slice'],
      ],
    ],
    ['Install', [['WantedBy', 'sockets.target']]],
  ]);
}

/** Depends on its socket alone: no client, tunnel, session or runtime can take it down with itself. */
function serviceUnit({ name }: TenantProfile): ProfileFile {
  const socket = proxySocketUnit(name);
  const unit = [
    ['Description', `Proxy of watertight tenant ${name}`],
    ['Requires', socket],
    ['After', `${socket} network.target`],
    // A proxy that crashes again and again stays wanted: it keeps coming back, once a second.
    ['StartLimitIntervalSec', '0'],
  ] as const;
  const service = [
    ['Type', 'exec'],
    [
      'ExecStart',
      `/usr/bin/node ${PATHS.bundle} egress-proxy --policy ${policyPath(name)} --status ${proxyStatusPath(name)}`,
    ],
    ['ExecReload', '/bin/kill -HUP $MAINPID'],
    // Names are resolved on Node's thread pool: four, the default, are soon taken by names whose servers are silent.
    ['Environment', 'UV_THREADPOOL_SIZE=32'],
    ['Restart', 'always'],
    ['RestartSec', '1'],
    ['User', PROXY_USER],
    ['Group', PROXY_USER],
    ['Slice', 'system.slice'],
    // Metrics and status: for root and the proxy's own group. Confined processes have an empty /run.
    ['RuntimeDirectory', proxyRuntimeFolder(name)],
    ['RuntimeDirectoryMode', '0750'],
    ['LimitNOFILE', '65536'],
    // What a confined process can make it hold: many connections at once are its business, the host's memory is not.
    ['MemoryMax', '50%'],
    ['TasksMax', '256'],
    // A decision line a request is the audit trail, and the ledger counts them: none may be dropped.
    ['LogRateLimitIntervalSec', '0'],
    ...HARDENING,
  ] as const;
  return unitFile(proxyServiceUnit(name), [
    ['Unit', unit],
    ['Service', service],
  ]);
}

/**
 * MemoryDenyWriteExecute= is not among them: V8 compiles at run time and needs pages that are written and then executed
 * (systemd.exec(5) names JIT engines); for the same reason it calls pkey_alloc(2), and without @pkey Node dies of SIGSYS
 * at its start (Node 18.20 on a CPU with protection keys). AF_NETLINK is for the list of the host's own addresses, AF_UNIX for the journal.
 */
const HARDENING = [
  ['CapabilityBoundingSet', ''],
  ['AmbientCapabilities', ''],
  ['NoNewPrivileges', 'yes'],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['PrivateTmp', 'yes'],
  ['PrivateDevices', 'yes'],
  ['ProtectKernelTunables', 'yes'],
  ['ProtectKernelModules', 'yes'],
  ['ProtectKernelLogs', 'yes'],
  ['ProtectControlGroups', 'yes'],
  ['ProtectClock', 'yes'],
  ['ProtectHostname', 'yes'],
  ['ProtectProc', 'invisible'],
  ['RestrictAddressFamilies', 'AF_INET AF_INET6 AF_UNIX AF_NETLINK'],
  ['RestrictNamespaces', 'yes'],
  ['RestrictRealtime', 'yes'],
  ['RestrictSUIDSGID', 'yes'],
  ['LockPersonality', 'yes'],
  ['RemoveIPC', 'yes'],
  ['SystemCallArchitectures', 'native'],
  ['SystemCallFilter', '@system-service @pkey'],
  ['SystemCallErrorNumber', 'EPERM'],
  ['UMask', '0077'],
] as const;
