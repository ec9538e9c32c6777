import t, { type Test } from 'tap';
import type { Attempt, Observation } from '../../checks/attempt.js';
import type { Observed } from '../../checks/claim.js';
import { deniedByProxy, fetchedThroughProxy, proxyAnswers } from '../../checks/judges/allowed.js';
import { shutDoors } from '../../checks/judges/doors.js';
import { unreachableFromOutside } from '../../checks/judges/inbound.js';
import { refusedBy } from '../../checks/judges/refused.js';
import type { Verdict } from '../../core/outcome.js';

const attempt = (id: string, kind: Attempt['kind'] = 'tcp'): Attempt => ({
  id,
  kind,
  family: 4,
  address: '198.51.100.2',
  port: 443,
  nonce: `n${id}`,
  deadline: 250,
});

const saw = (id: string, over: Partial<Observation> = {}): Observation => ({
  id,
  stage: 'connect',
  outcome: 'failed',
  errno: 'ECONNREFUSED',
  milliseconds: 1,
  detail: {},
  ...over,
});

const completed = (id: string, detail: Observation['detail'] = {}): Observation =>
  saw(id, { stage: 'done', outcome: 'completed', errno: null, detail });

/** A refusal with nothing wrong; each case spoils one thing. */
const refused: Observed = {
  attempts: [attempt('a'), attempt('b')],
  confined: [saw('a'), saw('b')],
  childProblem: null,
  counters: { kind: 'read', moved: { tcp: 2, proxy: 0, udp: 0, other: 0, inbound: 0 } },
  arrivals: 0,
  control: [completed('c'), completed('d')],
  controlAttempts: 2,
  controlArrivals: 2,
  proxyLines: null,
};

interface Case {
  readonly why: string;
  readonly spoil: Partial<Observed>;
  readonly verdict: Verdict;
  readonly reason: RegExp;
}

function runCases(
  t: Test,
  judge: (observed: Observed) => { verdict: Verdict; reason: string },
  good: Observed,
  cases: readonly Case[],
) {
  for (const { why, spoil, verdict, reason } of cases) {
    const judged = judge({ ...good, ...spoil });
    t.equal(judged.verdict, verdict, why);
    t.match(judged.reason, reason, `${why}: for that reason`);
  }
}

t.test('refused', async (t) => {
  runCases(t, refusedBy('tcp'), refused, [
    { why: 'nothing is wrong', spoil: {}, verdict: 'proven', reason: /2 × connect: ECONNREFUSED.*each counted by tcp/ },
    {
      why: 'silence is a refusal where the rule counted it',
      spoil: { confined: [saw('a', { outcome: 'silent', errno: null }), saw('b')] },
      verdict: 'proven',
      reason: /silent/,
    },
    { why: 'a packet arrived', spoil: { arrivals: 1 }, verdict: 'disproved', reason: /1 arrived at the sink/ },
    {
      why: 'an arrival outweighs a dead control',
      spoil: { arrivals: 1, controlArrivals: 0 },
      verdict: 'disproved',
      reason: /arrived at the sink/,
    },
    {
      why: 'an exchange was completed',
      spoil: { confined: [completed('a'), saw('b')] },
      verdict: 'disproved',
      reason: /got out: a/,
    },
    {
      why: 'a handshake without an answer is an escape',
      spoil: { confined: [saw('a', { stage: 'receive', outcome: 'silent', errno: null }), saw('b')] },
      verdict: 'disproved',
      reason: /got out/,
    },
    {
      why: 'the control did not arrive: nothing listens, perhaps',
      spoil: { controlArrivals: 1 },
      verdict: 'inconclusive',
      reason: /control.*1 of 2/,
    },
    {
      why: 'no control was made',
      spoil: { controlAttempts: 0, controlArrivals: 0, control: [] },
      verdict: 'inconclusive',
      reason: /control/,
    },
    {
      why: 'refused, but the rule never matched',
      spoil: { counters: { kind: 'read', moved: { tcp: 0 } } },
      verdict: 'disproved',
      reason: /not by its rule: the counter tcp moved by 0 of 2/,
    },
    {
      why: 'one packet went past the rule',
      spoil: { counters: { kind: 'read', moved: { tcp: 1 } } },
      verdict: 'disproved',
      reason: /moved by 1 of 2/,
    },
    {
      why: 'others were counted too',
      spoil: { counters: { kind: 'read', moved: { tcp: 5 } } },
      verdict: 'inconclusive',
      reason: /others were counted too/,
    },
    {
      why: 'the counter is missing',
      spoil: { counters: { kind: 'read', moved: { udp: 2 } } },
      verdict: 'disproved',
      reason: /not in the live table/,
    },
    {
      why: 'the table is not loaded',
      spoil: { counters: { kind: 'absent', reason: 'the table is not loaded' } },
      verdict: 'disproved',
      reason: /not loaded/,
    },
    {
      why: 'nft hangs',
      spoil: { counters: { kind: 'unknown', reason: 'nft gave no answer' } },
      verdict: 'inconclusive',
      reason: /nft gave no answer/,
    },
    {
      why: 'the child did not start',
      spoil: { confined: [], childProblem: 'refused' },
      verdict: 'inconclusive',
      reason: /did not start: refused/,
    },
    {
      why: 'the child left an attempt out',
      spoil: { confined: [saw('a')] },
      verdict: 'inconclusive',
      reason: /said nothing of 1/,
    },
    {
      why: 'the child answered for another attempt',
      spoil: { confined: [saw('a'), saw('z')] },
      verdict: 'inconclusive',
      reason: /said nothing of 1/,
    },
    {
      why: 'the child has a fault of its own',
      spoil: {
        confined: [saw('a', { outcome: 'error', stage: 'program', detail: { fault: 'KeyError()' } }), saw('b')],
      },
      verdict: 'inconclusive',
      reason: /KeyError/,
    },
    {
      why: 'there was nothing to try',
      spoil: { attempts: [], confined: [] },
      verdict: 'inconclusive',
      reason: /no attempt/,
    },
  ]);
});

t.test('refused by the sandbox', async (t) => {
  const raw: Observed = { ...refused, attempts: [attempt('a', 'raw'), attempt('b', 'raw')] };
  runCases(t, refusedBy('other'), raw, [
    {
      why: 'stopped before a packet was made: nothing is due to the rule',
      spoil: {
        confined: [saw('a', { stage: 'socket', errno: 'EPERM' }), saw('b', { stage: 'socket', errno: 'EPERM' })],
        counters: { kind: 'read', moved: { other: 0 } },
      },
      verdict: 'proven',
      reason: /by the sandbox before a packet was made/,
    },
  ]);
});

t.test('refused datagrams', async (t) => {
  const datagrams: Observed = {
    ...refused,
    attempts: [attempt('a', 'icmp'), attempt('b', 'icmp')],
    counters: { kind: 'read', moved: { other: 2 } },
  };
  runCases(t, refusedBy('other'), datagrams, [
    {
      why: 'the kernel took the datagram and the rule dropped it without telling the socket (ICMPv6)',
      spoil: {
        confined: [
          saw('a', { stage: 'send', errno: 'EPERM' }),
          saw('b', { stage: 'receive', outcome: 'silent', errno: null }),
        ],
      },
      verdict: 'proven',
      reason: /each counted by other/,
    },
    {
      why: 'an answer came',
      spoil: { confined: [completed('a', { answered: true }), saw('b')] },
      verdict: 'disproved',
      reason: /got out: a/,
    },
  ]);
});

const line = (verdict: string) => ({ host: 'na.sink.watertight.invalid', verdict, reason: 'pinned' });
const fetched: Observed = {
  ...refused,
  attempts: [attempt('a', 'proxy-http')],
  confined: [completed('a', { status: 200, echoed: true })],
  counters: { kind: 'read', moved: { proxy: 1 } },
  arrivals: 1,
  proxyLines: [line('allow')],
};

t.test('fetched through the proxy', async (t) => {
  runCases(t, fetchedThroughProxy, fetched, [
    { why: 'nothing is wrong', spoil: {}, verdict: 'proven', reason: /1 of 1 fetched/ },
    {
      why: 'the proxy is down',
      spoil: { confined: [saw('a')], arrivals: 0, proxyLines: [] },
      verdict: 'disproved',
      reason: /not fetched: connect: ECONNREFUSED/,
    },
    {
      why: 'the sink is dead, so the proxy is not to blame',
      spoil: { confined: [completed('a', { status: 502, echoed: false })], controlArrivals: 0 },
      verdict: 'inconclusive',
      reason: /control/,
    },
    {
      why: 'something else answered',
      spoil: { confined: [completed('a', { status: 200, echoed: false })] },
      verdict: 'disproved',
      reason: /not fetched.*200/,
    },
    {
      why: 'the proxy refused it',
      spoil: {
        confined: [completed('a', { status: 403, reason: 'not-listed', echoed: false })],
        proxyLines: [line('deny')],
      },
      verdict: 'disproved',
      reason: /403 not-listed/,
    },
    { why: 'no decision line', spoil: { proxyLines: [] }, verdict: 'disproved', reason: /logged 0 "allow"/ },
    {
      why: 'one line too many',
      spoil: { proxyLines: [line('allow'), line('allow')] },
      verdict: 'disproved',
      reason: /2 lines for 1/,
    },
    {
      why: 'the journal cannot be read',
      spoil: { proxyLines: null },
      verdict: 'inconclusive',
      reason: /log could not be read/,
    },
    {
      why: 'the rules did not see it',
      spoil: { counters: { kind: 'read', moved: { proxy: 0 } } },
      verdict: 'disproved',
      reason: /did not see it/,
    },
    {
      why: 'others were counted too',
      spoil: { counters: { kind: 'read', moved: { proxy: 9 } } },
      verdict: 'inconclusive',
      reason: /others/,
    },
    {
      why: 'it came from somewhere else than the sink',
      spoil: { arrivals: 0 },
      verdict: 'disproved',
      reason: /0 of 1 arrived/,
    },
  ]);
});

const denied: Observed = {
  ...fetched,
  confined: [completed('a', { status: 403, reason: 'not-listed' })],
  arrivals: 0,
  proxyLines: [line('deny')],
};

t.test('denied by the proxy', async (t) => {
  runCases(t, deniedByProxy, denied, [
    { why: 'nothing is wrong', spoil: {}, verdict: 'proven', reason: /403 \(not-listed\)/ },
    { why: 'it arrived all the same', spoil: { arrivals: 1 }, verdict: 'disproved', reason: /arrived/ },
    {
      why: 'a proxy that allows all',
      spoil: { confined: [completed('a', { status: 200 })], proxyLines: [line('allow')] },
      verdict: 'disproved',
      reason: /200/,
    },
    {
      why: 'a proxy that is down refuses nothing',
      spoil: { confined: [saw('a')] },
      verdict: 'disproved',
      reason: /ECONNREFUSED/,
    },
    {
      why: 'refused without a decision line',
      spoil: { proxyLines: [] },
      verdict: 'disproved',
      reason: /logged 0 "deny"/,
    },
    {
      why: 'the sink is dead: it would have been refused anyway',
      spoil: { controlArrivals: 0 },
      verdict: 'inconclusive',
      reason: /control/,
    },
  ]);
});

t.test('the proxy answers', async (t) => {
  runCases(t, proxyAnswers, denied, [
    { why: 'any answer is one', spoil: {}, verdict: 'proven', reason: /answered in/ },
    {
      why: 'silence',
      spoil: { confined: [saw('a', { outcome: 'silent', errno: null })] },
      verdict: 'disproved',
      reason: /did not answer/,
    },
  ]);
});

const inbound: Observed = {
  ...refused,
  attempts: [attempt('a', 'listen')],
  confined: [completed('a', { accepted: 0 })],
  counters: { kind: 'read', moved: { inbound: 1 } },
  controlAttempts: 1,
  controlArrivals: 1,
};

t.test('unreachable from outside', async (t) => {
  runCases(t, unreachableFromOutside, inbound, [
    { why: 'nothing is wrong', spoil: {}, verdict: 'proven', reason: /1 of 1 connections from outside refused/ },
    { why: 'a connection was taken', spoil: { arrivals: 1 }, verdict: 'disproved', reason: /took 1/ },
    {
      why: 'the child never listened',
      spoil: { confined: [saw('a', { stage: 'bind', errno: 'EPERM' })] },
      verdict: 'inconclusive',
      reason: /could not listen/,
    },
    {
      why: 'the rule did not refuse it',
      spoil: { counters: { kind: 'read', moved: { inbound: 0 } } },
      verdict: 'disproved',
      reason: /not by its rule/,
    },
    {
      why: 'a firewall of the host stops outside peers before',
      spoil: { controlArrivals: 0 },
      verdict: 'inconclusive',
      reason: /control/,
    },
  ]);
});

const doors: Observed = {
  ...refused,
  attempts: [
    { ...attempt('a', 'door'), door: 'io-uring' },
    { ...attempt('b', 'door'), door: 'x', path: '/tmp/marker' },
  ],
  confined: [saw('a', { stage: 'io-uring', errno: 'EPERM' }), saw('b', { stage: 'x', errno: 'ENOENT' })],
  counters: { kind: 'read', moved: {} },
};

t.test('doors', async (t) => {
  runCases(t, shutDoors, doors, [
    { why: 'all shut', spoil: {}, verdict: 'proven', reason: /2 tried and shut, of which 2 open/ },
    {
      why: 'one opened',
      spoil: { confined: [completed('a'), saw('b')] },
      verdict: 'disproved',
      reason: /open to a confined process: io-uring/,
    },
    {
      why: 'a shared folder is seen',
      spoil: { confined: [saw('a'), completed('b')] },
      verdict: 'disproved',
      reason: /\/tmp\/marker/,
    },
    { why: 'none opens for anybody', spoil: { control: [] }, verdict: 'inconclusive', reason: /only 0 of 2/ },
    { why: 'one was not tried', spoil: { confined: [saw('a')] }, verdict: 'inconclusive', reason: /said nothing of 1/ },
  ]);
});

t.test('a child that says it could make no socket has not tried the rule', async (t) => {
  const stopped = [saw('a', { stage: 'socket', errno: 'EPERM' }), saw('b', { stage: 'socket', errno: 'EPERM' })];
  runCases(t, refusedBy('tcp'), refused, [
    {
      why: 'TCP needs no privilege',
      spoil: { confined: stopped, counters: { kind: 'read', moved: { tcp: 0 } } },
      verdict: 'inconclusive',
      reason: /rule was not tried/,
    },
  ]);
});
