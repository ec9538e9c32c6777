import { rename, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { Lab } from './lab.js';

const HEADER = '# Written by every `watertight lab up`: to change it, change a copy.\n';

/** The inventory of a lab: what an operator would write for hosts of their own. */
export function renderInventory(lab: Lab): string {
  return (
    HEADER +
    stringify(
      {
        version: 1,
        defaults: { user: 'ops', become: 'sudo', identity: lab.identity, known_hosts: lab.knownHosts },
        hosts: Object.fromEntries(lab.hosts.map((host) => [host.name, { address: host.address, tenants: ['acme'] }])),
        tenants: {
          acme: { allow: ['example.com', '*.docs.example.org', 'api.example.net:8443'], runtimes: ['opencode'] },
        },
      },
      { lineWidth: 0, flowCollectionPadding: true },
    )
  );
}

/** Writes it, whole or not at all. */
export async function writeInventory(lab: Lab): Promise<void> {
  await writeFile(`${lab.inventory}.new`, renderInventory(lab), { mode: 0o644 });
  await rename(`${lab.inventory}.new`, lab.inventory);
}
