import { Failure } from '../core/failure.js';
import { isRecord } from '../core/json.js';
import { EXIT } from '../core/outcome.js';
import { bridgeName, isLabInterface, type Subnet, subnet, subnetPreference } from './names.js';
import { tool, tryTool } from './process.js';

interface Interface {
  readonly ifname: string;
  readonly addresses: readonly string[];
}

async function interfaces(): Promise<readonly Interface[]> {
  const listed: unknown = JSON.parse(await tool(['ip', '-json', 'address', 'show']));
  if (!Array.isArray(listed)) return [];
  return listed.filter(isRecord).map((entry) => ({
    ifname: String(entry.ifname),
    addresses: (Array.isArray(entry.addr_info) ? entry.addr_info : [])
      .filter(isRecord)
      .map((info) => String(info.local)),
  }));
}

/** A network for a new lab: the first it would like that neither the machine nor another lab uses. */
export async function chooseSubnet(lab: string, taken: ReadonlySet<number>): Promise<Subnet> {
  const present = (await interfaces())
    .filter(({ ifname }) => !isLabInterface(lab, ifname))
    .flatMap(({ addresses }) => addresses);
  const routes = await tool(['ip', '-4', 'route', 'show', 'table', 'all']);
  const index = subnetPreference(lab).find((candidate) => {
    const inside = `10.98.${candidate}.`;
    return !taken.has(candidate) && !routes.includes(inside) && !present.some((address) => address.startsWith(inside));
  });
  if (index === undefined)
    throw new Failure('every network from 10.98.0.0/24 to 10.98.254.0/24 is in use', EXIT.couldNotTell);
  return subnet(index);
}

/** Makes the lab's bridge, or mends a half-made one. */
export async function ensureBridge(lab: string, { gateway, gateway6 }: Subnet): Promise<void> {
  const bridge = bridgeName(lab);
  const names = (await interfaces()).map(({ ifname }) => ifname);
  if (!names.includes(bridge)) await tool(['ip', 'link', 'add', bridge, 'type', 'bridge']);
  await tool(['ip', 'address', 'replace', `${gateway}/24`, 'dev', bridge]);
  await tool(['ip', 'address', 'replace', `${gateway6}/64`, 'dev', bridge, 'nodad']);
  await tool(['ip', 'link', 'set', bridge, 'up']);
}

/** Takes away every interface that bears the lab's name. */
export async function removeInterfaces(lab: string): Promise<void> {
  for (const { ifname } of await interfaces()) {
    // A cable may vanish by itself meanwhile, with the namespace at its other end.
    if (isLabInterface(lab, ifname)) await tryTool(['ip', 'link', 'delete', ifname]);
  }
}
