import { PATHS } from '../names.js';
import { type Change, octal, run } from './change.js';
import type { FileFact } from './facts.js';
import { lostBy } from './file.js';
import { TRANSACTION } from './state-paths.js';

const MODE = 0o644;
/** The bundle that stood there before, kept until the run is committed. */
const KEPT = `${TRANSACTION}/watertight.mjs`;

/** mv(1) where the old bundle was not kept yet, or is back already. */
const NOT_KEPT = 1;

/** The program that provision brings to a host. */
export interface Bundle {
  readonly sha256: string;
  /** Where its file lies on the host when it has to be put in place. */
  readonly staged: string;
}

/** The change that puts the bundle in its place; null where it is there already. */
export function compareBundle(fact: FileFact, bundle: Bundle): Change | null {
  const differences = bundleDifferences(fact, bundle);
  if (differences === null) return null;
  const candidate = `${PATHS.bundle}.candidate`;
  const keep = fact.kind === 'file' ? [run(['cp', '-pT', '--', PATHS.bundle, KEPT])] : [];
  return {
    id: `bundle:${PATHS.bundle}`,
    kind: 'bundle',
    stage: 'files',
    summary: `${fact.kind === 'absent' ? 'create' : 'mend'} ${PATHS.bundle} (${differences})`,
    diff: null,
    operations: [
      ...keep,
      run(['install', '-m', octal(MODE), '-o', 'root', '-g', 'root', '-T', '--', bundle.staged, candidate]),
      run(['mv', '-fT', '--', candidate, PATHS.bundle]),
    ],
    undo:
      fact.kind === 'file'
        ? [run(['mv', '-fT', '--', KEPT, PATHS.bundle], { accept: [NOT_KEPT] })]
        : [run(['rm', '-f', '--', candidate, PATHS.bundle])],
    settle: [],
    kept: lostBy(PATHS.bundle, fact, fact.kind === 'file'),
  };
}

function bundleDifferences(fact: FileFact, bundle: Bundle): string | null {
  const shall = `${octal(MODE)} root:root`;
  if (fact.kind === 'absent') return shall;
  if (fact.kind !== 'file') return 'something else stands in its place';
  if (fact.sha256 !== bundle.sha256) return 'another version or changed';
  const is = `${octal(fact.mode)} ${fact.owner}:${fact.group}`;
  return is === shall ? null : `${is} to ${shall}`;
}
