import { EXIT, exitOf } from '../../core/outcome.js';
import type { Target } from '../../core/target/target.js';
import { version } from '../../core/version.js';
import { probe } from '../../probes/probe.js';
import { renderHost } from '../../profiles/host.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { HostFacts } from '../../profiles/resources/facts.js';
import { factsQuery } from '../../profiles/resources/gather.js';
import type { Emit } from './events.js';
import { gatherFacts } from './gather-facts.js';
import { notAsked, type Stop } from './stop.js';

/** Not a lack: provision waits until apt's lock is free. */
const WAITED_FOR = 'apt-lock';

export interface Reading {
  readonly profile: HostProfile;
  readonly bundleDigest: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Asks whether the host can be provisioned at all, and then how everything of ours stands there. Changes nothing. */
export async function readHost(reading: Reading, target: Target): Promise<HostFacts | Stop> {
  const lack = await lacks(reading, target);
  if (lack !== null) return lack;
  reading.emit({ type: 'progress', text: 'reading how the host stands' });
  const gathered = await gatherFacts(target, factsQuery(renderHost(reading.profile)));
  if (gathered.kind === 'facts') return gathered.facts;
  return { exit: EXIT.couldNotTell, kind: gathered.cause, reason: gathered.reason, fix: gathered.fix };
}

/** What a host must be before anything can be put on it; answered in the same words as verify's. */
async function lacks({ emit, bundleDigest, signal }: Reading, target: Target): Promise<Stop | null> {
  const report = await probe(target, { phase: 'provision', bundleDigest, version, signal });
  if (report.kind === 'not-asked') return notAsked(report.outcome);
  for (const result of report.results) emit({ type: 'prerequisite', ...result });
  const wanting = report.results.filter(({ id, presence }) => presence !== 'present' && id !== WAITED_FOR);
  if (wanting.length === 0) return null;
  const reason = `the host is not fit for it: ${wanting.map(({ id }) => id).join(', ')}`;
  return { exit: exitOf(wanting.map(({ presence }) => presence)), kind: 'prerequisite', reason, fix: null };
}
