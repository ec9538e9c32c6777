import type { Layer } from '../core/events.js';
import { CATALOGUE } from './catalogue.js';
import type { Claim } from './claim.js';

/** What each layer is, for the page's reader; the order is the page's. */
const LAYERS: Readonly<Record<Layer, string>> = {
  identity: 'what is loaded is what was meant',
  cgroup: 'nft, by cgroup: the tenant sends to its proxy and nowhere else',
  uid: 'nft, by uid',
  bpf: 'address filter of the slice',
  sandbox: 'what the unit may ask of the kernel',
  policy: 'the egress proxy',
  ledger: 'the figures of the whole run',
};

/** What the host cannot say of itself. */
const FROM_A_CONTROLLER = [
  '',
  'From a controller two more come before them, for the whole host (tenant `*`): `installed-program`, that the program on the',
  'host is the one that this controller installs, and `installed-profile`, that the profile it was made from is the one of this',
  'configuration.',
];

/** The page docs/claims.md, from the catalogue: a claim cannot be there without being documented. */
export function claimsPage(): string {
  const layers = (Object.keys(LAYERS) as Layer[]).filter((layer) => CATALOGUE.some((claim) => claim.layer === layer));
  return [
    '# Claims',
    '',
    'Made from `checks/catalogue.ts`. `watertight verify` proves, disproves or cannot tell each of these, for each tenant.',
    'A refusal is proven where every attempt failed, its counter moved by exactly the packets sent, nothing arrived at the',
    'sink, and the control arrived. Ids are stable.',
    ...FROM_A_CONTROLLER,
    ...layers.flatMap((layer) => ['', `## ${layer}: ${LAYERS[layer]}`, '', ...tableOf(layer)]),
    '',
  ].join('\n');
}

function tableOf(layer: Layer): string[] {
  const rows = CATALOGUE.filter((claim) => claim.layer === layer).map(
    (claim) => `| \`${claim.id}\` | ${claim.claim} | ${howOf(claim)} | \`${claim.hint}\` |`,
  );
  return ['| id | claim | how it is known | what mends it |', '|---|---|---|---|', ...rows];
}

function howOf(claim: Claim): string {
  switch (claim.type) {
    case 'state':
      return 'read back from the kernel';
    case 'ledger':
      return 'all counters, first reading to last';
    case 'attempt':
      if (claim.counter === null) return `tried; ${claim.expectation}`;
      return `tried; ${claim.expectation}; counted by \`TENANT_${claim.counter}\``;
  }
}
