import { removeCgroups } from '../cgroup-removal.js';
import type { Machine } from '../machine.js';
import { cableName } from '../names.js';
import { tryTool } from '../process.js';

/** Ends everything of a host at once, as a power cut would; its files stay. */
export async function stopHost(machine: Machine, lab: string, host: string): Promise<void> {
  await removeCgroups(machine, lab, host);
  const number = Number(host.replace(/^lab-/, ''));
  await tryTool(['ip', 'link', 'delete', cableName(lab, number)]);
}
