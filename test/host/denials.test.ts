import fc from 'fast-check';
import t from 'tap';
import type { ExecOutcome, Target } from '../../core/target/target.js';
import { readJournal } from '../../host/denials/read-journal.js';
import { remedyFor } from '../../host/denials/remedy.js';
import { denialTally } from '../../host/denials/tally.js';
import type { DecisionLine } from '../../host/egress-proxy/decision-line.js';
import { parseEntry } from '../../host/egress-proxy/entry.js';
import { compilePolicy } from '../../host/egress-proxy/policy.js';
import { REASONS, type Reason } from '../../host/egress-proxy/reasons.js';
import { denialsJson, denialsText } from '../../scripts/denials/show.js';

function line(over: Partial<DecisionLine>): string {
  const reason = over.reason ?? 'not-listed';
  const whole: DecisionLine = {
    event: 'decision',
    id: '1',
    time: '2026-11-30T12:00:00.000Z',
    tenant: 'acme',
    client: '127.0.0.1:1',
    method: 'CONNECT',
    host: 'api.example.com',
    port: 443,
    address: '',
    verdict: REASONS[reason].verdict,
    reason,
    rule: '',
    status: 403,
    duration_ms: 0,
    bytes_up: 0,
    bytes_down: 0,
    dns_ms: 0,
    connect_ms: 0,
    ended: '',
    ...over,
  };
  return JSON.stringify(whole);
}

const REMEDIES: readonly { why: string; host: string; port: number; reason: Reason; rule?: string; says: unknown }[] = [
  { why: 'a default port', host: 'a.example.com', port: 443, reason: 'not-listed', says: { entry: 'a.example.com' } },
  { why: 'the other one', host: 'a.example.com', port: 80, reason: 'policy-empty', says: { entry: 'a.example.com' } },
  {
    why: 'another port',
    host: 'a.example.com',
    port: 8443,
    reason: 'not-listed',
    says: { entry: 'a.example.com:8443' },
  },
  {
    why: 'a listed name',
    host: 'a.example.com',
    port: 22,
    reason: 'port-not-listed',
    says: { entry: 'a.example.com:22' },
  },
  {
    why: 'in report mode',
    host: 'a.example.com',
    port: 443,
    reason: 'report-not-listed',
    says: { entry: 'a.example.com' },
  },
  {
    why: 'an address',
    host: '93.184.216.34',
    port: 443,
    reason: 'address-not-listed',
    says: { entry: '93.184.216.34' },
  },
  {
    why: 'IPv6',
    host: '2606:2800::1',
    port: 8443,
    reason: 'address-not-listed',
    says: { entry: '[2606:2800::1]:8443' },
  },
  { why: 'a private one', host: '10.0.0.1', port: 443, reason: 'address-not-listed', says: { why: /never/ } },
  { why: 'no entry helps', host: 'rebind.example', port: 443, reason: 'address-forbidden', says: { why: /never/ } },
  {
    why: 'a deny entry',
    host: 'b.example.com',
    port: 443,
    reason: 'deny-listed',
    rule: '*.example.com',
    says: { why: /\*\.example\.com/ },
  },
  { why: 'a name without a dot', host: 'localhost', port: 443, reason: 'not-listed', says: { why: /not an entry/ } },
  { why: 'a fault of the request', host: '', port: 0, reason: 'request-malformed', says: { why: /Malformed/ } },
];

t.test('the entry that would allow it', async (t) => {
  for (const { why, says, rule = '', ...denied } of REMEDIES) t.match(remedyFor({ ...denied, rule }), says, why);
  await t.test('for every reason there is an answer', async (t) => {
    for (const reason of Object.keys(REASONS) as Reason[]) {
      const remedy = remedyFor({ host: 'a.example.com', port: 443, reason, rule: '' });
      const whyNot = remedy.kind === 'none' ? remedy.why : remedy.entry;
      if (REASONS[reason].verdict === 'deny' || reason.startsWith('report-')) {
        t.not(whyNot, 'Connection established', reason);
      }
    }
  });
});

t.test('a proposed entry allows exactly what was denied', async () => {
  const port = fc.integer({ min: 1, max: 65535 });
  fc.assert(
    fc.property(fc.domain(), port, (host, port) => {
      const remedy = remedyFor({ host: host.toLowerCase(), port, reason: 'not-listed', rule: '' });
      if (remedy.kind === 'none') return true;
      const policy = compilePolicy({ version: 1, tenant: 'acme', mode: 'enforce', allow: [remedy.entry], pins: [] });
      const target = { kind: 'name', name: host.toLowerCase() } as const;
      return parseEntry(remedy.entry).ok && policy.decide(target, port).verdict === 'pass';
    }),
  );
});

t.test('denials are counted by target and reason', async (t) => {
  const tally = denialTally(4);
  const lines = [
    'egress-proxy: listening on 127.86.0.2 port 3128',
    line({ host: 'b.example.com' }),
    line({ time: '2026-11-30T12:00:01.000Z' }),
    line({ time: '2026-11-30T12:00:02.000Z' }),
    line({ port: 8443 }),
    line({ event: 'end' }),
    line({ reason: 'allowed', status: 200 }),
    line({ host: 'n1.unlisted.watertight.invalid' }),
    line({ reason: 'report-not-listed', status: 200 }),
    line({ host: 'one.too.many.example' }),
    line({}).replace('not-listed', 'never-heard-of'),
    line({}).slice(0, -5),
    line({}).replace('443', '"443"'),
  ];
  for (const one of lines) tally.add(one);
  t.match(
    tally.denials().map(({ host, port, reason, denied, times }) => [host, port, reason, denied, times]),
    [
      ['api.example.com', 443, 'not-listed', true, 2],
      ['api.example.com', 8443, 'not-listed', true, 1],
      ['api.example.com', 443, 'report-not-listed', false, 1],
      ['b.example.com', 443, 'not-listed', true, 1],
    ],
  );
  t.match(tally.denials()[0], { first: '2026-11-30T12:00:01.000Z', last: '2026-11-30T12:00:02.000Z' });
  t.equal(tally.others(), 1, 'beyond the number that is kept apart');
});

t.test('for a person', async (t) => {
  const tally = denialTally();
  for (const host of ['api.example.com', 'api.example.com', '\u001b[2J\u202eevil']) tally.add(line({ host }));
  tally.add(line({ reason: 'report-not-listed' }));
  tally.add(line({ reason: 'request-malformed', host: '', port: 0, method: '' }));
  const found = { tenant: 'acme', since: '1 hour ago', denials: tally.denials(), others: 3 };
  const text = denialsText(found);
  t.match(text, /^ +2 {2}2026-11-30T12:00:00\.000Z {2}api\.example\.com:443 +not-listed +api\.example\.com$/m);
  t.match(text, /report-not-listed \(let through\)/);
  t.match(text, /\(unreadable\)/);
  t.match(text, /and 3 more/);
  t.match(text, /tenants\.acme\.allow/);
  t.notMatch(text, /[\u001b\u202e]/, 'what confined work asked for cannot steer the terminal');
  t.notMatch(denialsJson(found), /[\u001b\u202e]/);
  t.match(JSON.parse(denialsJson(found)), { schema: 'watertight/denials/1', denials: [{ times: 2 }] });
  t.match(denialsText({ ...found, denials: [] }), /Nothing was denied/);
});

t.test('a journal that cannot be read is never "nothing was denied"', async (t) => {
  const journal = (outcome: ExecOutcome, stderr = ''): Target => ({
    name: 'test',
    exec: async () => ({ outcome, stdout: Buffer.alloc(0), stderr: Buffer.from(stderr), durationMs: 0 }),
    upload: async () => ({ outcome, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), durationMs: 0 }),
    close: async () => {},
  });
  const cases: readonly { outcome: ExecOutcome; stderr?: string; exit: number; why: string }[] = [
    { outcome: { kind: 'exited', status: 1 }, stderr: 'No journal files were found.', exit: 2, why: 'no journal' },
    { outcome: { kind: 'exited', status: 1 }, stderr: 'Failed to parse timestamp: x', exit: 64, why: 'no time' },
    { outcome: { kind: 'output-limit', limitBytes: 1 }, exit: 2, why: 'too much' },
    { outcome: { kind: 'cannot-spawn', detail: 'ENOENT' }, exit: 2, why: 'no journalctl' },
  ];
  for (const { outcome, stderr, exit, why } of cases) {
    await t.rejects(
      readJournal(journal(outcome, stderr), 'x.service', 'x', () => {}),
      { name: /Failure$/, exit },
      why,
    );
  }
  await t.resolves(readJournal(journal({ kind: 'exited', status: 0 }), 'x.service', 'x', () => {}));
});
