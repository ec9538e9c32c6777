import { spawnSync } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import t from 'tap';
import { coloursFor } from '../../../core/cli/colours.js';
import type { ClaimResult, PrerequisiteResult, VerifyEvent } from '../../../core/events.js';
import { printable, printableJson } from '../../../core/printable.js';
import { FORMAT_NAMES, type Format } from '../../../core/report/format-names.js';
import { FORMATS } from '../../../core/report/formats.js';
import { parseEvent } from '../../../core/report/parse-event.js';
import { addEvent, emptyRecord, exitOfRun } from '../../../core/report/record.js';
import schema from '../../../docs/schema/verify-1.schema.json' with { type: 'json' };

const ajv = new Ajv2020({ allowUnionTypes: true });
addFormats.default(ajv);
const isDocument = ajv.compile(schema);

const started: VerifyEvent = {
  type: 'started',
  schema: 'watertight/verify/1',
  host: 'lab-01',
  tenants: ['acme'],
  at: '2026-11-30T12:00:00.000Z',
  version: '0.1.0',
};
const finished = (exit: number): VerifyEvent => ({ type: 'finished', exit, durationMs: 4123.4 });
const claim = (verdict: ClaimResult['verdict'], over: Partial<ClaimResult> = {}): VerifyEvent => ({
  type: 'claim',
  id: `udp4-${verdict}`,
  tenant: 'acme',
  claim: 'UDP over IPv4 is dropped',
  layer: 'cgroup',
  verdict,
  reason: `because ${verdict}`,
  evidence: { attempts: 3, counted: 2 },
  hint: verdict === 'proven' ? null : 'watertight provision lab-01',
  ...over,
});
const prerequisite = (presence: PrerequisiteResult['presence']): VerifyEvent => ({
  type: 'prerequisite',
  id: `nft-${presence}`,
  presence,
  found: presence === 'present' ? '1.0.6' : '',
  reason: `nftables is ${presence}`,
  fix: presence === 'present' ? null : 'watertight provision lab-01',
});
const ledger = (balanced: boolean): Extract<VerifyEvent, { type: 'ledger' }> => ({
  type: 'ledger',
  claim: 'udp4',
  tenant: 'acme',
  expectation: 'refused',
  attempts: 3,
  counter: 'acme_udp',
  counted: balanced ? 3 : 2,
  proxyLines: null,
  arrivals: 0,
  sent: 2,
  controlAttempts: 1,
  controlArrivals: 1,
  balanced,
});
const failure: VerifyEvent = { type: 'failure', kind: 'lost-connection', reason: 'it went away', fix: null };

function render(format: Format, events: readonly VerifyEvent[], isTTY = false, evidence = false): string {
  let text = '';
  const reporter = FORMATS[format]({
    write: (more) => {
      text += more;
    },
    colours: coloursFor({ isTTY }, {}),
    interactive: isTTY,
    evidence,
  });
  for (const event of events) reporter.event(event);
  reporter.end();
  return text;
}

const runs: readonly { why: string; events: readonly VerifyEvent[]; exit: number; sentence: RegExp }[] = [
  {
    why: 'all proven',
    events: [started, prerequisite('present'), claim('proven'), ledger(true), finished(0)],
    exit: 0,
    sentence: /lab-01 is contained: claims: 1 proven, 0 disproved, 0 could not be told; the ledger balances \(4\.1 s\)/,
  },
  {
    why: 'a no outweighs a could-not-tell',
    events: [started, claim('proven'), claim('disproved'), claim('inconclusive'), finished(1)],
    exit: 1,
    sentence: /is NOT contained: claims: 1 proven, 1 disproved, 1 could not be told/,
  },
  {
    why: 'inconclusive is no pass',
    events: [started, claim('proven'), claim('inconclusive'), finished(2)],
    exit: 2,
    sentence: /could not tell about lab-01, which is not a pass/,
  },
  {
    why: 'a bare host',
    events: [started, prerequisite('present'), prerequisite('absent'), prerequisite('error'), finished(1)],
    exit: 1,
    sentence: /lacks what containment needs: prerequisites: 1 present, 1 absent, 1 could not be told; no claim/,
  },
  { why: 'nothing judged', events: [started, finished(0)], exit: 2, sentence: /no claim was judged/ },
  {
    why: 'prerequisites alone are no claim',
    events: [started, prerequisite('present'), finished(0)],
    exit: 2,
    sentence: /1 present, 0 absent, 0 could not be told; no claim was judged/,
  },
  { why: 'nothing at all', events: [], exit: 2, sentence: /cut off/ },
  { why: 'cut off after a pass', events: [started, claim('proven')], exit: 2, sentence: /cut off/ },
  { why: 'cut off after a no', events: [started, claim('disproved')], exit: 1, sentence: /NOT contained.*cut off/ },
  { why: 'a failure', events: [started, claim('proven'), failure, finished(2)], exit: 2, sentence: /not a pass/ },
  {
    why: 'figures that do not agree',
    events: [started, claim('proven'), ledger(false), finished(0)],
    exit: 2,
    sentence: /1 row of the ledger does not balance/,
  },
  {
    why: 'it does not trust its own pass',
    events: [started, claim('proven'), finished(2)],
    exit: 2,
    sentence: /does not call itself a pass/,
  },
];

/** What a reader of each format concludes: 0 a pass, 1 a no, 2 could not tell; null where the format cannot say. */
const conclude: Readonly<Record<Format, (text: string) => number | boolean>> = {
  human: (text) => !/✗|\?/.test(text) && /is contained/.test(text),
  tap: (text) => !/^not ok/m.test(text) && /^1\.\.[1-9]/m.test(text),
  junit: (text) => !/<(failure|error)/.test(text) && /<testcase/.test(text),
  json: (text) => JSON.parse(text).exit,
  ndjson: (text) => {
    const record = emptyRecord();
    for (const line of text.trimEnd().split('\n')) {
      const event = parseEvent(line);
      if (event === null) throw new Error(`no event: ${line}`);
      addEvent(record, event);
    }
    return exitOfRun(record);
  },
};

t.test('every format comes to the same conclusion as the exit code', async (t) => {
  for (const { why, events, exit, sentence } of runs) {
    const record = emptyRecord();
    for (const event of events) addEvent(record, event);
    t.equal(exitOfRun(record), exit, why);
    t.match(render('human', events), sentence, `${why}: the sentence`);
    for (const format of FORMAT_NAMES) {
      const concluded = conclude[format](render(format, events));
      t.equal(concluded, typeof concluded === 'boolean' ? exit === 0 : exit, `${why}: ${format}`);
    }
    t.ok(isDocument(JSON.parse(render('json', events))), `${why}: follows its schema`, { errors: isDocument.errors });
  }
});

t.test('human', async (t) => {
  const events = [
    started,
    { type: 'progress', text: 'probing' } as const,
    prerequisite('error'),
    claim('disproved'),
    ledger(true),
    ledger(false),
    finished(1),
  ];
  const text = render('human', events);
  t.notMatch(text, '\u001b', 'no escape where there is no terminal');
  t.notMatch(text, 'probing', 'no progress into a pipe');
  t.match(text, '✗ disproved       acme  udp4-disproved: UDP over IPv4 is dropped', 'symbol and word');
  t.match(text, '? could not tell  nft-error', 'could not tell is a word of its own');
  t.match(text, /fix: watertight provision lab-01/, 'the command that mends it');
  t.notMatch(text, /counted: 2\n/, 'no raw observation where none was asked for');
  t.match(render('human', events, false, true), /counted: 2\n/, 'and the evidence where it was');
  const twins = ['a.one', 'a.two'].map((id) => ({ ...claim('disproved'), id, reason: 'the table is not loaded' }));
  const grouped = render('human', [started, ...twins, finished(1)]).split('What is not proven')[1];
  t.equal(grouped?.match(/the table is not loaded/g)?.length, 1, 'one cause is said once');
  t.match(grouped, /a\.one, a\.two/, 'with the names of all that it made red');
  const table = text.split('\n').filter((line) => /^(claim|udp4) +/.test(line));
  t.equal(new Set(table.map((line) => line.indexOf('refused'))).size, 2, 'cells of a column stand below each other');
  t.match(table[2], /acme_udp +2 +- +0 +1 of 1 +NO$/, 'an unbalanced row says so');
  const terminal = render('human', events, true);
  t.match(terminal, /probing\u001b\[22m\r\u001b\[K/, 'progress is overwritten on a terminal');
  t.match(terminal, '\u001b[31m✗ disproved', 'and answers are coloured');
});

t.test('tap', async (t) => {
  const text = render('tap', [
    started,
    claim('disproved', { claim: 'a # skip \\ b' }),
    claim('inconclusive'),
    finished(1),
  ]);
  t.match(text, /^TAP version 14\n/);
  t.match(text, 'not ok 1 - acme: udp4-disproved: a \\# skip \\\\ b\n  ---\n', 'no directive can be smuggled in');
  t.match(text, /not ok 2 - [^\n]+\n {2}---\n {2}# could not tell\n {2}verdict: "inconclusive"/, 'told apart');
  t.match(text, /\n1\.\.2\n/);
});

/** Text as hostile as it comes: any code unit, controls, markup. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\u001b]0;x\u0007',
    ']]>',
    '\n1..0 # skip\nok 1',
    '\u0000',
    '\ud800',
    '\ufffe',
    '\u009b2J',
    '<&"\'>',
    '\r',
  ),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
);
const hostileEvents = fc
  .array(hostile, { minLength: 8, maxLength: 8 })
  .map(([a, b, c, d, e, f, g, h]): VerifyEvent[] => [
    { type: 'started', schema: 'watertight/verify/1', host: `${a}`, tenants: [`${b}`], at: `${h}`, version: `${c}` },
    { type: 'prerequisite', id: `${d}`, presence: 'absent', found: `${e}`, reason: `${f}`, fix: `${g}` },
    claim('disproved', {
      id: `${a}`,
      tenant: `${b}`,
      claim: `${c}`,
      reason: `${d}`,
      evidence: { [`${e}`]: f },
      hint: `${g}`,
    }),
    { ...ledger(false), claim: `${a}`, tenant: `${b}`, counter: `${c}` },
    { type: 'failure', kind: `${a}`, reason: `${b}`, fix: `${c}` },
    { type: 'progress', text: `${d}` },
    finished(1),
  ]);

t.test('whatever a host says, the output keeps its form and steers no terminal', async (t) => {
  const documents: string[] = [];
  fc.assert(
    fc.property(hostileEvents, (events) => {
      for (const format of FORMAT_NAMES) {
        const text = render(format, events);
        if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(text)) throw new Error(`${format}: a control character`);
        if (Buffer.from(text).toString() !== text) throw new Error(`${format}: not UTF-8`);
      }
      const tap = render('tap', events);
      if ((tap.match(/^(not )?ok /gm) ?? []).length !== 4) throw new Error(`tap: not 4 points: ${tap}`);
      if (render('ndjson', events).trimEnd().split('\n').length !== events.length) throw new Error('ndjson: lines');
      JSON.parse(render('json', events));
      documents.push(render('junit', events));
    }),
  );
  const parse = [
    'import json, sys, xml.dom.minidom',
    'for text in json.load(sys.stdin):',
    '    suites = xml.dom.minidom.parseString(text.encode()).getElementsByTagName("testcase")',
    '    assert len(suites) == 4, text',
  ].join('\n');
  const python = spawnSync('python3', ['-c', parse], { input: JSON.stringify(documents), encoding: 'utf8' });
  t.equal(python.status, 0, `${documents.length} JUnit documents are XML`, { stderr: python.stderr });
});

t.test('events from another machine', async (t) => {
  const events = [started, prerequisite('absent'), claim('inconclusive'), ledger(true), failure, finished(1)];
  for (const event of events) t.same(parseEvent(printableJson(event)), event, `${event.type} comes back as it was`);
  for (const [why, line] of [
    ['no JSON', 'Last login: today'],
    ['no event', '{"type":"hello"}'],
    ['an answer that is none', JSON.stringify({ ...claim('proven'), verdict: 'yes' })],
    ['a figure that is none', JSON.stringify({ ...ledger(true), attempts: '3' })],
    ['a part missing', JSON.stringify({ ...finished(0), exit: undefined })],
    ['cut in the middle', JSON.stringify(started).slice(0, -3)],
  ] as const)
    t.equal(parseEvent(line), null, why);
  fc.assert(fc.property(fc.oneof(hostile, fc.json()), (line) => parseEvent(line) === null));
});

t.test('printable', async (t) => {
  t.equal(printable('a\u001b[2J\u009b\r\n\u202e\ud800é€😀'), 'a\\x1b[2J\\x9b\\r\\n\\u202e\\ud800é€😀');
  fc.assert(fc.property(hostile, (text) => JSON.parse(printableJson(text)) === text));
});
