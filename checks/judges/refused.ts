import type { CounterKind } from '../../profiles/names.js';
import { type Observation, reachedPacket } from '../attempt.js';
import type { Judgement, Observed } from '../claim.js';
import {
  controlArrived,
  disproved,
  everyAttemptWasMade,
  firstOf,
  inconclusive,
  proven,
  summarise,
} from './judgement.js';

/**
 * Judges "this is refused": every attempt failed, the rule counted each packet of it, nothing arrived, and the same
 * attempts unconfined all arrived. Something that got out is disproved whatever the rest says.
 */
export function refusedBy(counter: CounterKind): (observed: Observed) => Judgement {
  return firstOf(
    [whatGotOut, everyAttemptWasMade, everySocketWasMade, (observed) => countedBy(counter, observed), controlArrived],
    ({ confined }) => proven(`refused (${summarise(confined)})${whereStopped(confined, counter)}; nothing arrived`),
  );
}

/** How many packets the rule should have counted: one for each attempt that was not stopped before it made one. */
export function packetsDue(confined: readonly Observation[]): number {
  return confined.filter(reachedPacket).length;
}

/**
 * A TCP handshake that finished is an escape even where the exchange after it did not. A datagram that the kernel took is
 * none by itself (an ICMPv6 socket reports no error when a rule drops its packet): its answer is, or its arrival.
 */
function whatGotOut({ attempts, confined, arrivals }: Observed): Judgement | null {
  if (arrivals > 0) return disproved(`${arrivals} arrived at the sink (${summarise(confined)})`);
  const streams = new Set(attempts.filter(({ kind }) => kind === 'tcp').map(({ id }) => id));
  const out = confined.filter(({ id, outcome, stage, detail }) =>
    streams.has(id) ? outcome === 'completed' || stage === 'send' || stage === 'receive' : detail.answered === true,
  );
  return out.length > 0 ? disproved(`got out: ${out.map(({ id }) => id).join(', ')} (${summarise(out)})`) : null;
}

/** Any process may make a TCP or UDP socket here; a child that says it could not has shown nothing of the rules. */
function everySocketWasMade({ attempts, confined }: Observed): Judgement | null {
  const plain = new Set(attempts.filter(({ kind }) => kind === 'tcp' || kind === 'udp').map(({ id }) => id));
  const stopped = confined.filter((observation) => plain.has(observation.id) && !reachedPacket(observation));
  if (stopped.length === 0) return null;
  return inconclusive(`no packet was made (${summarise(stopped)}), so the rule was not tried`);
}

function countedBy(counter: CounterKind, { confined, counters }: Observed): Judgement | null {
  const due = packetsDue(confined);
  if (counters.kind === 'absent') return disproved(counters.reason);
  if (counters.kind === 'unknown') return inconclusive(counters.reason);
  const counted = counters.moved[counter];
  if (counted === undefined) return disproved(`the counter ${counter} is not in the live table`);
  if (counted < due)
    return disproved(`refused, but not by its rule: the counter ${counter} moved by ${counted} of ${due}`);
  if (counted > due) {
    return inconclusive(
      `the counter ${counter} moved by ${counted} where ${due} packets were sent: others were counted too`,
    );
  }
  return null;
}

function whereStopped(confined: readonly Observation[], counter: CounterKind): string {
  const due = packetsDue(confined);
  if (due === confined.length) return `, each counted by ${counter}`;
  if (due === 0) return ', by the sandbox before a packet was made';
  return `, ${due} counted by ${counter}, the others stopped by the sandbox before a packet was made`;
}
