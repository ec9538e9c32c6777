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

/** Judges "this is fetched through the proxy": as many answers, decision lines, counted connections and arrivals as attempts. */
export const fetchedThroughProxy: (observed: Observed) => Judgement = firstOf(
  [
    everyAttemptWasMade,
    controlArrived,
    ({ confined }) => {
      const failed = confined.filter(({ outcome, detail }) => outcome !== 'completed' || detail.echoed !== true);
      if (failed.length === 0) return null;
      const answers = failed.map(({ detail }) => answerOf(detail)).filter(Boolean);
      return disproved(`not fetched: ${summarise(failed)}${answers.length > 0 ? ` (${answers.join(', ')})` : ''}`);
    },
    linesAgree('allow'),
    countedByProxyRule,
    ({ attempts, arrivals }) =>
      arrivals === attempts.length ? null : disproved(`${arrivals} of ${attempts.length} arrived at the sink`),
  ],
  ({ attempts }) =>
    proven(`${attempts.length} of ${attempts.length} fetched, logged by the proxy and seen at the sink`),
);

/** Judges "the proxy refuses this": every attempt got its 403 and its decision line, and nothing arrived. */
export const deniedByProxy: (observed: Observed) => Judgement = firstOf(
  [
    ({ arrivals }) => (arrivals > 0 ? disproved(`${arrivals} arrived at the sink`) : null),
    everyAttemptWasMade,
    ({ confined }) => {
      const others = confined.filter(({ outcome, detail }) => outcome !== 'completed' || detail.status !== 403);
      if (others.length === 0) return null;
      return disproved(
        `not refused by the proxy: ${others.map((o) => answerOf(o.detail) || summarise([o])).join(', ')}`,
      );
    },
    linesAgree('deny'),
    countedByProxyRule,
    controlArrived,
  ],
  ({ attempts, confined }) => {
    const reasons = new Set(confined.map(({ detail }) => String(detail.reason)));
    return proven(
      `${attempts.length} of ${attempts.length} refused with 403 (${[...reasons].join(', ')}); nothing arrived`,
    );
  },
);

/** Judges "the proxy answers": any HTTP answer to every attempt. */
export const proxyAnswers: (observed: Observed) => Judgement = firstOf(
  [
    everyAttemptWasMade,
    ({ confined }) => {
      const silent = confined.filter(({ outcome }) => outcome !== 'completed');
      return silent.length > 0 ? disproved(`the proxy did not answer: ${summarise(silent)}`) : null;
    },
    countedByProxyRule,
  ],
  ({ confined }) => proven(`answered in ${Math.max(...confined.map(({ milliseconds }) => milliseconds))} ms`),
);

function linesAgree(verdict: 'allow' | 'deny') {
  return ({ attempts, proxyLines }: Observed): Judgement | null => {
    if (proxyLines === null) return inconclusive("the proxy's log could not be read");
    const lines = proxyLines.filter((line) => line.verdict === verdict).length;
    if (lines === attempts.length && proxyLines.length === attempts.length) return null;
    return disproved(
      `the proxy logged ${lines} "${verdict}" of ${proxyLines.length} lines for ${attempts.length} attempts`,
    );
  };
}

function countedByProxyRule({ attempts, counters }: Observed): Judgement | null {
  if (counters.kind === 'absent') return disproved(counters.reason);
  if (counters.kind === 'unknown') return inconclusive(counters.reason);
  const { proxy } = counters.moved;
  if (proxy === undefined) return disproved('the counter proxy is not in the live table');
  if (proxy < attempts.length)
    return disproved(`the counter proxy moved by ${proxy} of ${attempts.length}: the rules did not see it`);
  if (proxy > attempts.length)
    return inconclusive(
      `the counter proxy moved by ${proxy} for ${attempts.length} connections: others were counted too`,
    );
  return null;
}

function answerOf(detail: Readonly<Record<string, unknown>>): string {
  if (typeof detail.status !== 'number') return '';
  return detail.reason ? `${detail.status} ${String(detail.reason)}` : String(detail.status);
}
