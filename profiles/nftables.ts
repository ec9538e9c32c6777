import {
  BASE_CHAINS,
  COUNTER_KINDS,
  counterName,
  inputChain,
  outputChain,
  PARENT_SLICE,
  PATHS,
  STRAY_COUNTER,
  slicePath,
  TABLE,
  tenantUser,
  VERDICT_MAPS,
} from './names.js';
import type { HostProfile, ProfileFile, TenantProfile } from './profile.js';

/**
 * The whole ruleset as one file for `nft -f`. It is one transaction: creating the table where it is absent, deleting it
 * and making it anew leaves no moment without rules (two calls do), and loading it twice does not double them.
 */
export function renderRuleset(profile: HostProfile): ProfileFile {
  const content = [
    '#!/usr/sbin/nft -f',
    '# Written by watertight. Changes here are undone by the next provision.',
    '',
    `table inet ${TABLE} { }`,
    `delete table inet ${TABLE}`,
    '',
    `table inet ${TABLE} {`,
    ...indent([
      ...profile.tenants.flatMap(counters),
      `counter ${STRAY_COUNTER} { }`,
      ...profile.tenants.flatMap((tenant) => ['', ...tenantOutput(tenant), '', ...tenantInput(tenant)]),
      '',
      ...verdictMaps(profile.tenants),
      '',
      ...baseOutput(),
      '',
      ...baseInput(),
    ]),
    '}',
    '',
  ].join('\n');
  return { path: PATHS.ruleset, content, mode: 0o644, owner: 'root', group: 'root' };
}

function counters({ name }: TenantProfile): readonly string[] {
  return COUNTER_KINDS.map((kind) => `counter ${counterName(name, kind)} { }`);
}

/**
 * What a tenant's processes may send: TCP to their proxy. TCP is refused with an ICMP error, not with a reset: a reset is
 * a packet from the refused address, and the slice's IPAddressDeny= (cgroup/skb ingress BPF) drops it before the socket
 * sees it; the caller then hangs and sends its SYN again. An ICMP error reaches the socket by its error handler, past
 * that filter (measured, kernel 6.18, systemd 252). `icmpx` answers in both families, plain `icmp` only in IPv4.
 */
function tenantOutput({ name, proxy }: TenantProfile): readonly string[] {
  // The counter counts connections, not packets, so that a ledger can hold it against attempts.
  const toProxy = `ip daddr ${proxy.address} tcp dport ${proxy.port}`;
  return chain(outputChain(name), [
    `${toProxy} tcp flags & (fin | syn | rst | ack) == syn counter name "${counterName(name, 'proxy')}" accept`,
    `${toProxy} accept`,
    `meta l4proto udp counter name "${counterName(name, 'udp')}" drop`,
    `meta l4proto tcp counter name "${counterName(name, 'tcp')}" reject with icmpx port-unreachable`,
    `counter name "${counterName(name, 'other')}" drop`,
  ]);
}

/**
 * Who may send to a tenant's sockets: nobody who begins it. What answers a connection of the tenant's own has to pass, or
 * its refused connections would time out: TCP that is no first SYN, and ICMP errors (nf_sk_lookup_slow_v4 finds the
 * socket that an error speaks of). No `ct state`: connection tracking would let through what was open before the load.
 */
function tenantInput({ name }: TenantProfile): readonly string[] {
  const inbound = counterName(name, 'inbound');
  return chain(inputChain(name), [
    `tcp flags & (fin | syn | rst | ack) == syn counter name "${inbound}" reject with tcp reset`,
    'meta l4proto { tcp, icmp, icmpv6 } accept',
    `counter name "${inbound}" drop`,
  ]);
}

/** One lookup decides for any number of tenants. Users are resolved when the file is loaded, so they must exist. */
function verdictMaps(tenants: readonly TenantProfile[]): readonly string[] {
  const byCgroup = (target: (tenant: string) => string) =>
    tenants.map(({ name }) => `"${slicePath(name)}" : jump ${target(name)}`);
  return [
    ...verdictMap(VERDICT_MAPS.cgroupsOut, 'type cgroupsv2 : verdict', byCgroup(outputChain)),
    ...verdictMap(
      VERDICT_MAPS.usersOut,
      'typeof meta skuid : verdict',
      tenants.map(({ name }) => `"${tenantUser(name)}" : jump ${outputChain(name)}`),
    ),
    ...verdictMap(VERDICT_MAPS.cgroupsIn, 'type cgroupsv2 : verdict', byCgroup(inputChain)),
  ];
}

function verdictMap(name: string, type: string, elements: readonly string[]): readonly string[] {
  // An empty `elements = { }` is a syntax error to nft.
  const list = elements.length > 0 ? ['elements = {', ...indent(elements.map((element) => `${element},`)), '}'] : [];
  return [`map ${name} {`, ...indent([type, ...list]), '}'];
}

/** Priority -150 stands before any DNAT (-100), which would hide the address that was asked for. */
function baseOutput(): readonly string[] {
  return chain(BASE_CHAINS.output, [
    'type filter hook output priority -150; policy accept;',
    `socket cgroupv2 level 2 vmap @${VERDICT_MAPS.cgroupsOut}`,
    `meta skuid vmap @${VERDICT_MAPS.usersOut}`,
    `socket cgroupv2 level 1 "${PARENT_SLICE}" counter name "${STRAY_COUNTER}" drop`,
  ]);
}

function baseInput(): readonly string[] {
  return chain(BASE_CHAINS.input, [
    'type filter hook input priority -150; policy accept;',
    `socket cgroupv2 level 2 vmap @${VERDICT_MAPS.cgroupsIn}`,
    `socket cgroupv2 level 1 "${PARENT_SLICE}" counter name "${STRAY_COUNTER}" drop`,
  ]);
}

function chain(name: string, rules: readonly string[]): readonly string[] {
  return [`chain ${name} {`, ...indent(rules), '}'];
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`));
}
