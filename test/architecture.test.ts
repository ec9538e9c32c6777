import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type Import, importsOf, sourcesBelow } from './imports.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** A part of the house whose imports have rules of their own. A file is in the room with the longest name that fits. */
const ROOMS = [
  'scripts',
  'checks',
  'checks/claims',
  'checks/judges',
  'checks/gather',
  'probes',
  'profiles',
  'profiles/resources',
  'lab',
  'host',
  'host/egress-proxy',
  'host/denials',
  'host/launcher',
  'host/confined-child',
  'host/sink',
  'core',
  'core/cli',
  'core/configuration',
  'core/report',
  'core/target',
  'docs/schema',
] as const;
type Room = (typeof ROOMS)[number];

interface Arrow {
  readonly from: readonly Room[];
  readonly to: readonly Room[];
  /** Where not all of the room may be imported: these files alone. */
  readonly only?: readonly string[];
  readonly why: string;
}

const CORE = ['core', 'core/cli', 'core/configuration', 'core/report', 'core/target'] as const;

/** Who may import whom. What is in no row is an arrow that goes the wrong way; a row that no import needs is stale. */
const ARROWS: readonly Arrow[] = [
  { from: ['scripts'], to: CORE, why: 'a command reads its flags, its configuration, and reports' },
  { from: ['scripts'], to: ['checks'], why: 'verify runs the checks, by their own front' },
  { from: ['scripts'], to: ['probes'], why: 'provision asks for the prerequisites first' },
  { from: ['scripts'], to: ['profiles', 'profiles/resources'], why: 'provision makes a host what its profile says' },
  { from: ['scripts'], to: ['lab'], why: 'the lab has a command' },
  {
    from: ['scripts'],
    to: ['host', 'host/egress-proxy', 'host/denials', 'host/launcher'],
    why: 'a program on the host is a command',
  },

  { from: ['checks'], to: ['checks/claims', 'checks/judges', 'checks/gather'], why: 'the run ties its three rooms' },
  {
    from: ['checks/claims', 'checks/judges', 'checks/gather'],
    to: ['checks'],
    why: 'their common words are at the top',
  },
  { from: ['checks/claims'], to: ['checks/judges'], why: 'a claim is data and the judge that it names' },
  { from: ['checks'], to: ['probes'], why: 'verify does not start on a host without its prerequisites' },
  {
    from: ['checks', 'checks/claims', 'checks/judges', 'checks/gather'],
    to: ['profiles'],
    why: 'it is the profile that is proven',
  },
  {
    from: ['checks/gather'],
    to: ['host/confined-child', 'host/sink'],
    why: 'texts that travel to the host: imported as text, run there',
  },
  { from: ['checks'], to: ['core', 'core/report', 'core/target'], why: 'events, and the other side of a connection' },
  {
    from: ['checks'],
    to: ['core/configuration', 'core/cli'],
    only: ['core/configuration/proxy-address.ts', 'core/cli/cleanup.ts'],
    why: 'the place of the pinned names, and what must be taken away however a run ends',
  },
  { from: ['checks/claims'], to: ['core'], only: ['core/nonce.ts'], why: 'an attempt is known by a word of its own' },
  { from: ['checks/gather'], to: ['core', 'core/target'], why: 'it acts through a target' },

  {
    from: ['probes'],
    to: ['profiles'],
    only: ['profiles/names.ts'],
    why: 'it asks for what the profile puts there, by name',
  },
  { from: ['probes'], to: ['core', 'core/target'], why: 'it asks through a target' },

  { from: ['profiles'], to: ['core', 'core/configuration'], why: 'configuration in, files out' },
  { from: ['profiles/resources'], to: ['profiles'], why: 'facts are compared with the profile' },
  { from: ['profiles/resources'], to: ['core'], only: ['core/printable.ts'], why: 'a difference is shown to a person' },

  { from: ['lab'], to: ['core'], why: 'failures and exit codes; hosts to test on know nothing of what is tested' },

  { from: ['host'], to: ['profiles'], why: 'an installed host is read as a profile' },
  { from: ['host'], to: ['core'], why: 'failures' },
  {
    from: ['host/denials'],
    to: ['host/egress-proxy'],
    only: ['host/egress-proxy/reasons.ts', 'host/egress-proxy/classify.ts'],
    why: 'it reads what the proxy writes, by the same tables',
  },
  { from: ['host/denials'], to: ['profiles', 'core', 'core/target'], why: 'entries as configured, through a target' },
  { from: ['host/launcher'], to: ['profiles', 'core', 'core/target'], why: 'names of the slice, and the local target' },
  {
    from: ['host/egress-proxy'],
    to: ['core'],
    only: ['core/failure.ts', 'core/message-of.ts'],
    why: 'what meets hostile input stays small and starts fast: no configuration, no library, nothing of the profile',
  },

  { from: ['core/cli', 'core/configuration', 'core/report', 'core/target'], to: ['core'], why: 'the ground floor' },
  {
    from: ['core/report'],
    to: ['core/cli'],
    only: ['core/cli/colours.ts'],
    why: 'a report is coloured for its stream',
  },
  { from: ['core/report'], to: ['docs/schema'], why: 'what is documented is what a line is held to' },
];

interface Use {
  readonly names: readonly string[];
  readonly rooms: readonly Room[];
  readonly why: string;
}

/** Libraries, each in the few places that wrap it. */
const LIBRARIES: readonly Use[] = [
  { names: ['commander'], rooms: ['scripts', 'core/cli'], why: 'flags are read at the front' },
  { names: ['esbuild', 'zx'], rooms: ['scripts'], why: 'tools of the developer' },
  { names: ['execa'], rooms: ['core/target', 'lab'], why: 'one place starts a process for us; the lab boots machines' },
  { names: ['node-ssh', 'ssh2', 'ssh-config', 'p-retry'], rooms: ['core/target'], why: 'one place speaks SSH' },
  { names: ['yaml'], rooms: ['core/configuration', 'lab'], why: 'one reads the configuration, the other writes one' },
  { names: ['ajv', 'ajv-formats'], rooms: ['core', 'core/configuration', 'core/report'], why: 'the border is in core' },
  { names: ['fastest-levenshtein'], rooms: ['core/configuration'], why: 'one `did you mean`' },
  { names: ['picocolors'], rooms: ['core/cli'], why: 'one decides on colours' },
  { names: ['diff'], rooms: ['profiles/resources'], why: 'one shows a change' },
];

/** Rooms that decide and do not act: of Node's own modules they may use what computes, and nothing else. */
const PURE: readonly Use[] = [
  { rooms: ['profiles', 'profiles/resources'], names: ['node:path/posix'], why: 'profiles do no I/O' },
  { rooms: ['checks/judges', 'checks/claims'], names: [], why: 'a judge is a function of what was observed' },
];

function roomOf(path: string): Room | null {
  const fitting = ROOMS.filter((room) => path.startsWith(`${room}/`));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? null;
}

const houses = [...new Set(ROOMS.map((room) => room.split('/')[0] ?? ''))].filter((name) => name !== 'docs');
const imports = houses.flatMap((house) => sourcesBelow(root, house)).flatMap((file) => importsOf(root, file));
const inside = (path: string): boolean => path.includes('/') && existsSync(join(root, path));
const show = ({ from, to }: Import): string => `${from} -> ${to}`;

function allows({ from, to, only }: Arrow, made: Import): boolean {
  const [source, target] = [roomOf(made.from), roomOf(made.to)];
  if (source === null || target === null || !from.includes(source) || !to.includes(target)) return false;
  return only === undefined || only.includes(made.to);
}

t.test('who imports whom', async (t) => {
  const crossing = imports.filter(({ from, to }) => inside(to) && roomOf(from) !== roomOf(to));
  t.ok(crossing.length > 100, 'the imports were found');
  const wrong = crossing.filter((made) => !ARROWS.some((arrow) => allows(arrow, made)));
  t.strictSame(wrong.map(show), [], 'every import from one room to another is in the table');
  for (const arrow of ARROWS) {
    const needed = crossing.filter((made) => allows(arrow, made)).map(({ to }) => to);
    const names = `${arrow.from.join(', ')} -> ${(arrow.only ?? arrow.to).join(', ')}`;
    t.ok(needed.length > 0 && (arrow.only ?? []).every((file) => needed.includes(file)), `${names}: ${arrow.why}`);
  }
});

t.test('every import leads somewhere', async (t) => {
  const lost = imports.filter(({ to }) => to.includes('/') && !to.startsWith('node:') && !to.startsWith('@'));
  t.strictSame(lost.filter(({ to }) => !existsSync(join(root, to))).map(show), []);
});

t.test('which library is used where', async (t) => {
  const outside = imports.filter(({ to }) => !inside(to) && !to.startsWith('node:'));
  const fits = ({ names, rooms }: Use, { from, to }: Import): boolean =>
    names.includes(to) && rooms.some((room) => room === roomOf(from));
  t.strictSame(outside.filter((made) => !LIBRARIES.some((use) => fits(use, made))).map(show), []);
  for (const { names, why } of LIBRARIES)
    for (const name of names)
      t.ok(
        outside.some(({ to }) => to === name),
        `${name}: ${why}`,
      );
});

t.test('what decides does not act', async (t) => {
  for (const { rooms, names, why } of PURE) {
    const acting = imports.filter(
      ({ from, to }) => rooms.some((room) => room === roomOf(from)) && to.startsWith('node:'),
    );
    t.strictSame(acting.filter(({ to }) => !names.includes(to)).map(show), [], `${rooms.join(', ')}: ${why}`);
  }
});

// An import of a type is gone when a program runs: it makes no circle.
t.test('no file needs itself to be loaded', async (t) => {
  const needs = new Map<string, string[]>();
  for (const { from, to, typeOnly } of imports) {
    if (inside(to) && !typeOnly) needs.set(from, [...(needs.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (done.has(file) || way.includes(file)) return;
    for (const to of needs.get(file) ?? []) follow(to, [...way, file]);
    done.add(file);
  };
  for (const file of needs.keys()) follow(file, []);
  t.strictSame(circles, []);
});
