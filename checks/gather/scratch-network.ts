import { succeeded, type Target } from '../../core/target/target.js';
import { SCRATCH } from '../scene.js';

const DEADLINE_MS = 10_000;
const { interface: link, routeTable } = SCRATCH;

/** Our end of the pair. `nodad`: an address under duplicate detection cannot be used for a second. */
const HOST_SIDE = [
  `addr add ${SCRATCH.host4}/24 dev ${link}`,
  `addr add ${SCRATCH.host6}/64 dev ${link} nodad`,
  `link set ${link} up`,
  `route add ${SCRATCH.metadata4}/32 dev ${link} table ${routeTable}`,
  `-6 route add ${SCRATCH.metadata6}/128 dev ${link} table ${routeTable}`,
  `-4 rule add from ${SCRATCH.host4} to ${SCRATCH.metadata4} lookup ${routeTable} pref ${routeTable}`,
  `-6 rule add from ${SCRATCH.host6} to ${SCRATCH.metadata6} lookup ${routeTable} pref ${routeTable}`,
];

const SINK_SIDE = [
  'link set lo up',
  `addr add ${SCRATCH.sink4}/24 dev eth0`,
  `addr add ${SCRATCH.metadata4}/32 dev eth0`,
  `addr add ${SCRATCH.sink6}/64 dev eth0 nodad`,
  `addr add ${SCRATCH.metadata6}/128 dev eth0 nodad`,
  'link set eth0 up',
];

/** Leftovers of a run that was killed; all of it may be absent. */
const CLEARING = [`link del ${link}`, `-4 rule del pref ${routeTable}`, `-6 rule del pref ${routeTable}`];

/**
 * Joins the network namespace of a process to the host by a veth pair.
 * @throws Error with what ip(8) said
 */
export async function joinScratchNetwork(local: Target, pid: number): Promise<void> {
  await leaveScratchNetwork(local);
  await ip(local, [], `link add ${link} type veth peer name eth0 netns ${pid}`);
  // Where a host switched IPv6 off by sysctl it is off on new interfaces too; on this one, which is ours, it is tried.
  await local.exec({ command: ['sysctl', '-qw', `net.ipv6.conf.${link}.disable_ipv6=0`], deadlineMs: DEADLINE_MS });
  await ip(local, ['nsenter', `--net=/proc/${pid}/ns/net`, '--'], ...SINK_SIDE);
  for (const line of HOST_SIDE) await ip(local, [], line);
}

/** Takes our end, the rules and the routes away (routes go with the interface). Never fails: what is absent is away. */
export async function leaveScratchNetwork(local: Target): Promise<void> {
  for (const line of CLEARING) await ipCommand(local, [], line);
}

async function ip(local: Target, prefix: readonly string[], ...lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const result = await ipCommand(local, prefix, line);
    if (succeeded(result)) continue;
    const said = result.stderr.toString('utf8').trim() || result.outcome.kind;
    throw new Error(`the verifier's own network could not be set up: ip ${line}: ${said}`);
  }
}

function ipCommand(local: Target, prefix: readonly string[], line: string) {
  const command = [...prefix, 'ip', ...line.split(' ')] as [string, ...string[]];
  return local.exec({ command, deadlineMs: DEADLINE_MS });
}
