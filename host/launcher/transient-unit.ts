import { sliceUnit } from '../../profiles/names.js';
import { confinedEnvironment, confinedIdentity, SANDBOX } from './sandbox.js';

/** One run of confined work. */
export interface ConfinedRun {
  readonly tenant: string;
  readonly proxy: { readonly address: string; readonly port: number };
  /** Absolute path of the program, then its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Unit name, ending in .service. */
  readonly unit: string;
  /** Root's own folder, empty, which receives how the main process ended in a file of the name ENDING. */
  readonly endingFolder: string;
}

/** Name of the file that says how the main process ended. */
export const ENDING = 'ending';

/** Where the unit sees that folder: its own /run is empty, and ExecStopPost= lives in the same mount namespace. */
const SEEN_AT = '/run/watertight';

/**
 * systemd replaces $NAME and ${NAME} in the arguments of a command, and $$ is how a single dollar is written
 * (systemd.service(5), "Command lines"). The bus call itself escapes specifiers.
 */
function escapeDollars(argument: string): string {
  return argument.replaceAll('$', '$$$$');
}

/**
 * Arguments of systemd-run(1) for the run. `--pipe` hands our own descriptors 0 to 2 to the program, so its bytes go
 * through nothing of ours; Type=exec makes a program that cannot be started an error of the start, not an exit status.
 */
export function transientUnit(run: ConfinedRun): string[] {
  const settings = [...SANDBOX, ...confinedIdentity(run.tenant)];
  const environment = Object.entries(confinedEnvironment(run.proxy));
  return [
    '--quiet',
    '--pipe',
    '--wait',
    '--collect',
    '--service-type=exec',
    `--unit=${run.unit}`,
    `--slice=${sliceUnit(run.tenant)}`,
    `--description=Confined work of tenant ${run.tenant}`,
    ...settings.map(({ property, value }) => `--property=${property}=${value}`),
    ...environment.map(([name, value]) => `--setenv=${name}=${value}`),
    // systemd-run tells a child that died of SIGTERM from one that succeeded by nothing: both are "success" to it
    // (SuccessExitStatus= in systemd.service(5)); ExecStopPost= is told the truth in its environment.
    `--property=BindPaths=${run.endingFolder}:${SEEN_AT}`,
    `--property=ExecStopPost=+/bin/sh -c 'echo "$$EXIT_CODE $$EXIT_STATUS" >${SEEN_AT}/${ENDING}'`,
    '--',
    ...run.command.map(escapeDollars),
  ];
}
