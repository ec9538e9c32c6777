import { PATHS } from '../names.js';
import type { Change } from './change.js';
import installScript from './install-packages.sh';

/** Names, one a line, every package that provision brought to the host, their dependencies included. */
export const PACKAGES_NOTE = `${PATHS.state}/packages`;
/** Left behind where an installation was killed: what was installed before it began. */
export const PACKAGES_BEFORE = `${PACKAGES_NOTE}.before`;

/** apt may have to wait for another apt, and for a slow mirror. */
const INSTALL_MS = 15 * 60_000;

/**
 * The change that installs what is missing; null where nothing is. Packages are not taken back when a run is undone:
 * they are noted, and go with deprovision.
 */
export function comparePackages(installed: ReadonlyMap<string, string>, desired: readonly string[]): Change | null {
  const missing = desired.filter((name) => !installed.has(name));
  if (missing.length === 0) return null;
  return {
    id: `package:${missing.join('+')}`,
    kind: 'package',
    stage: 'packages',
    summary: `install ${missing.join(' ')}`,
    diff: null,
    operations: [
      {
        do: 'run',
        command: ['/bin/sh', '-s', '--', PACKAGES_NOTE, ...missing],
        input: installScript,
        deadlineMs: INSTALL_MS,
        progress: true,
      },
    ],
    undo: [],
    settle: [],
    kept: [`the packages stay installed, and deprovision removes them: ${missing.join(' ')}`],
  };
}
