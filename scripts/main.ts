import type { Command } from 'commander';
import { createProgram } from '../core/cli/program.js';
import { runProgram } from '../core/cli/run.js';
import { deprovisionCommand } from './deprovision.js';
import { labCommand } from './lab.js';
import { provisionCommand } from './provision.js';

/**
 * The controller's commands, in the order in which help lists them. Each file holds options alone and imports its work
 * inside the action, so that `watertight --version` starts as fast as Node does.
 */
const commands: Command[] = [provisionCommand(), deprovisionCommand(), labCommand()];

await runProgram(
  createProgram('Makes a Linux host fit to run a browser agent, and proves it by effect.', commands, [
    { type: 'watertight --version', does: 'print the version' },
  ]),
);
