import type { Command } from 'commander';
import { createProgram } from '../core/cli/program.js';
import { runProgram } from '../core/cli/run.js';
import { denialsCommand } from './denials.js';
import { egressProxyCommand } from './egress-proxy.js';
import { provisionLocalCommand } from './provision-local.js';
import { runCommand, runUnprovenCommand } from './run.js';
import { verifyLocalCommand } from './verify-local.js';

/** What runs on a provisioned host, in one file: the same commands by the same names as the controller's. */
const commands: Command[] = [
  runCommand(),
  verifyLocalCommand(),
  denialsCommand(),
  egressProxyCommand(),
  provisionLocalCommand(),
  runUnprovenCommand(),
];

await runProgram(
  createProgram('watertight on a contained host: proves its containment and runs confined work.', commands, [
    { type: 'watertight run --tenant acme -- cat', does: 'start confined work' },
    { type: 'watertight verify --local', does: 'prove that this host is contained' },
  ]),
);
