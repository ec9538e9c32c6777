import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../core/failure.js';
import { lastLines } from '../../core/last-lines.js';
import { EXIT } from '../../core/outcome.js';
import { ensureMachinePackages } from '../machine-packages.js';
import type { Suite } from '../names.js';
import { toolPath } from '../process.js';
import { CUSTOMIZE, INCLUDED, INSTALLABLE, UNPACK_WITHOUT } from './recipe.js';
import { debianSources } from './sources.js';

const DEADLINE_MS = 30 * 60_000;

interface Build {
  readonly suite: Suite;
  /** Empty folder that gets `root` and `packages`. */
  readonly directory: string;
  readonly cgroup: string;
  readonly onProgress: (text: string) => void;
}

/** Fills a folder with a suite's root file system and packages. @throws Failure with the last lines of the build */
export async function runBuild({ suite, directory, cgroup, onProgress }: Build): Promise<void> {
  await ensureMachinePackages({ mmdebstrap: 'mmdebstrap', 'apt-ftparchive': 'apt-utils' }, onProgress);
  const sources = await debianSources(suite);
  onProgress(`building the ${suite} image (once; a minute or two)`);
  const customize = join(directory, 'customize.sh');
  await writeFile(customize, CUSTOMIZE, { mode: 0o755 });
  const build = execa('sh', ['-c', CONFINED, 'sh', cgroup, ...mmdebstrap(suite, directory, customize, sources)], {
    reject: false,
    all: true,
    stdin: 'ignore',
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
    env: {
      LC_ALL: 'C.UTF-8',
      PATH: toolPath(),
      DEBIAN_FRONTEND: 'noninteractive',
      WATERTIGHT_PACKAGES: join(directory, 'packages'),
      WATERTIGHT_INSTALLABLE: INSTALLABLE.join(' '),
    },
  });
  for await (const line of build.iterable({ from: 'all' })) {
    const step = /^I: (.+)/.exec(line)?.[1];
    if (step && !step.startsWith('success')) onProgress(`${suite} image: ${step}`);
  }
  const result = await build;
  if (result.exitCode === 0) return;
  throw new Failure(
    `the ${suite} image could not be built\n${lastLines(String(result.all ?? ''), 8)}`,
    EXIT.couldNotTell,
  );
}

/**
 * A build ends with the process that started it, and takes its mounts along: both live in namespaces of its own. Its
 * cgroup is the lab's, so `lab down` finds it whatever happened.
 */
const CONFINED =
  'echo 0 >"$1/cgroup.procs" && shift && exec setpriv --pdeathsig KILL ' +
  'unshare --mount --propagation private --pid --mount-proc --fork --kill-child "$@"';

function mmdebstrap(suite: Suite, directory: string, customize: string, sources: readonly string[]): readonly string[] {
  return [
    'mmdebstrap',
    '--mode=root',
    '--variant=minbase',
    '--format=directory',
    `--include=${INCLUDED.join(',')}`,
    ...UNPACK_WITHOUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    `--customize-hook=${customize}`,
    suite,
    join(directory, 'root'),
    ...sources,
  ];
}
