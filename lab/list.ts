import { UsageFailure } from '../core/failure.js';
import type { Lab } from './lab.js';
import { type Machine, thisMachine } from './machine.js';
import { checkLabName } from './names.js';
import { describeLab, labNames, loadState } from './state.js';

/** Every lab of this machine, with what runs of it. */
export async function labList(): Promise<readonly Lab[]> {
  const machine = await thisMachine();
  const labs: Lab[] = [];
  for (const name of [...(await labNames())].sort()) {
    const state = await loadState(name);
    if (state !== null) labs.push(await describeLab(machine, name, state));
  }
  return labs;
}

/** What there is to say of a lab that is not there. */
export async function absenceOf(name: string): Promise<string> {
  const others = [...(await labNames())].sort();
  return `there is no lab ${name}; ${others.length === 0 ? 'there is none at all' : `labs: ${others.join(', ')}`}`;
}

/** A lab that is up, with this machine. @throws UsageFailure where there is none of that name */
export async function findLab(name: string): Promise<{ readonly machine: Machine; readonly lab: Lab }> {
  checkLabName(name);
  const machine = await thisMachine();
  const state = await loadState(name);
  if (state === null) throw new UsageFailure(await absenceOf(name), `watertight lab up --lab ${name}`);
  return { machine, lab: await describeLab(machine, name, state) };
}
