import type { Command } from 'commander';
import { createProgram } from '../core/cli/program.js';
import { runProgram } from '../core/cli/run.js';
import { deprovisionCommand } from './deprovision.js';
import { labCommand } from './lab.js';
import { provisionCommand } from './provision.js';
import { renderCommand } from './render.js';
import { runCommand } from './run.js';
import { verifyCommand } from './verify.js';

/**
 * The controller's commands, in the order in which help lists them. Each file holds options alone and imports its work
 * inside the action, so that `watertight --version` starts as fast as Node does.
 */
const commands: Command[] = [
  provisionCommand(),
  verifyCommand(),
  deprovisionCommand(),
  renderCommand(),
  runCommand(),
  labCommand(),
];

await runProgram(
  createProgram('Makes a Linux host fit to run a browser agent, and proves it by effect.', commands, [
    { type: 'watertight provision browser-01', does: 'make a host contained, and prove it' },
    { type: 'watertight verify browser-01', does: 'prove it again' },
    { type: 'watertight verify --help', does: 'options and examples of one command' },
  ]),
);
