import { PATHS } from '../names.js';

/** Where a new bundle waits on the host until the run that it carries out puts it in its place. */
export const STAGING = `${PATHS.state}/staged`;
export const STAGED_BUNDLE = `${STAGING}/watertight.mjs`;
/** What a run keeps until it is committed: its journal, and the bundle that stood there before. */
export const TRANSACTION = `${PATHS.state}/transaction`;
