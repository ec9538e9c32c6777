import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
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

/** A lab that is up, with this machine. @throws Failure where there is none of that name */
export async function findLab(name: string): Promise<{ readonly machine: Machine; readonly lab: Lab }> {
  checkLabName(name);
  const machine = await thisMachine();
  const state = await loadState(name);
  if (state === null) throw new Failure(`there is no lab ${name}`, EXIT.no, `watertight lab up --lab ${name}`);
  return { machine, lab: await describeLab(machine, name, state) };
}
