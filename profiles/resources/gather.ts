import { LISTING_FUNCTIONS } from '../ruleset-state.js';
import gatherScript from './gather.sh';

/** What to read from a host. */
export interface FactsQuery {
  readonly manifest: string;
  /** Paths of files and directories. */
  readonly files: readonly string[];
  readonly users: readonly string[];
  readonly units: readonly string[];
  /** The profile's ruleset, to be listed from a scratch namespace; null: none. */
  readonly ruleset: string | null;
}

/**
 * The program and script that read a host's facts; run it as root and hand its stdout to `parseFacts`.
 * Names travel as arguments and the ruleset as base64, so nothing is ever quoted.
 * @param nonce letters and digits that frame the answers
 */
export function factsRequest(query: FactsQuery, nonce: string) {
  const subjects = [
    ...query.files.flatMap((path) => ['file', path]),
    ...query.users.flatMap((name) => ['user', name]),
    ...query.units.flatMap((name) => ['unit', name]),
  ];
  const desired = Buffer.from(query.ruleset ?? '', 'utf8').toString('base64');
  return {
    command: ['/bin/sh', '-s', '--', nonce, query.manifest, ...subjects] as readonly [string, ...string[]],
    input: `${LISTING_FUNCTIONS}\nDESIRED='${desired}'\n${gatherScript}`,
  };
}
