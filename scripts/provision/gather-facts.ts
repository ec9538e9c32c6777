import { randomBytes } from 'node:crypto';
import { fixOf } from '../../core/target/describe.js';
import { succeeded, type Target } from '../../core/target/target.js';
import type { HostFacts } from '../../profiles/resources/facts.js';
import { type FactsQuery, factsRequest } from '../../profiles/resources/gather.js';
import { parseFacts } from '../../profiles/resources/parse-facts.js';
import { describeResult } from './describe-result.js';

/** Reading takes a second; a host under load may take longer, one whose tools hang does not get longer than this. */
const GATHER_MS = 90_000;

export type Gathered =
  | { readonly kind: 'facts'; readonly facts: HostFacts }
  /** `cause` is the kind of the outcome, or `facts` where the answer itself was wanting. */
  | { readonly kind: 'error'; readonly cause: string; readonly reason: string; readonly fix: string | null };

/** Reads the state of everything that provision looks after, as root; nothing on the host changes. */
export async function gatherFacts(target: Target, query: FactsQuery): Promise<Gathered> {
  const nonce = `n${randomBytes(12).toString('hex')}`;
  const { command, input } = factsRequest(query, nonce);
  const result = await target.exec({ command, input, deadlineMs: GATHER_MS, become: true });
  if (!succeeded(result)) {
    const { outcome } = result;
    return { kind: 'error', cause: outcome.kind, reason: describeResult(result), fix: fixOf(outcome) };
  }
  const answer = parseFacts(result.stdout.toString('utf8'), nonce);
  return answer.kind === 'facts' ? answer : { ...answer, cause: 'facts', fix: null };
}
