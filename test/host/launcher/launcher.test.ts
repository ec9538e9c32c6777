import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { parseAttestation } from '../../../core/attestation.js';
import { type ContainmentFacts, containmentOf, type Fact } from '../../../host/launcher/containment.js';
import { foreignSockets, unixInodes } from '../../../host/launcher/descriptors.js';
import { type AsTenant, findExecutable } from '../../../host/launcher/executable.js';
import { isSetUpStatus, parseEnding } from '../../../host/launcher/exit-status.js';
import { readRunArguments } from '../../../host/launcher/run-arguments.js';
import { confinedEnvironment, SANDBOX } from '../../../host/launcher/sandbox.js';
import { transientUnit } from '../../../host/launcher/transient-unit.js';

const known = <T>(value: T): Fact<T> => ({ known: true, value });
const attestation = {
  schema: 'watertight/attestation/1',
  machineId: 'm',
  bootId: 'boot',
  rulesetDigest: 'd',
  tenants: {
    acme: { cgroup: 42, proxyInvocation: 'p', provenAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-02T00:00:00Z' },
  },
  version: '1',
} as const;
const good: ContainmentFacts = {
  attestation: known(attestation),
  bootId: known('boot'),
  rulesetDigest: known<string | null>('d'),
  cgroup: known<number | null>(42),
  proxyAnswers: known(true),
};
const unknown = { known: false, why: 'nft gave no answer' } as const;

t.test('containment', async (t) => {
  const cases: readonly { why: string; spoil: Partial<ContainmentFacts>; kind: string; reason?: RegExp }[] = [
    { why: 'all as it was proven', spoil: {}, kind: 'holds' },
    { why: 'never proven', spoil: { attestation: known(null) }, kind: 'broken', reason: /not been proven/ },
    {
      why: 'another tenant was proven',
      spoil: { attestation: known({ ...attestation, tenants: {} }) },
      kind: 'broken',
      reason: /acme has not been proven/,
    },
    { why: 'proven before a reboot', spoil: { bootId: known('other') }, kind: 'broken', reason: /earlier boot/ },
    { why: 'flushed', spoil: { rulesetDigest: known(null) }, kind: 'broken', reason: /not loaded/ },
    {
      why: 'another ruleset',
      spoil: { rulesetDigest: known('e') },
      kind: 'broken',
      reason: /not the one that was proven/,
    },
    { why: 'the slice is gone', spoil: { cgroup: known(null) }, kind: 'broken', reason: /no cgroup/ },
    { why: 'the slice was made anew', spoil: { cgroup: known(43) }, kind: 'broken', reason: /made anew/ },
    { why: 'no proxy', spoil: { proxyAnswers: known(false) }, kind: 'broken', reason: /nothing listens/ },
    { why: 'nft hangs', spoil: { rulesetDigest: unknown }, kind: 'could-not-tell', reason: /no answer/ },
    { why: 'the attestation cannot be read', spoil: { attestation: unknown }, kind: 'could-not-tell' },
    {
      why: 'broken outweighs could-not-tell',
      spoil: { rulesetDigest: unknown, cgroup: known(43) },
      kind: 'broken',
      reason: /made anew/,
    },
  ];
  for (const { why, spoil, kind, reason } of cases) {
    const judged = containmentOf({ ...good, ...spoil }, 'acme');
    t.equal(judged.kind, kind, why);
    if (reason && judged.kind !== 'holds') t.match(judged.reasons.join('; '), reason, `${why}: for that reason`);
  }
});

t.test('an attestation from outside', async (t) => {
  t.strictSame(parseAttestation(JSON.stringify(attestation)), attestation);
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...attestation, tenants: { acme: { cgroup: '42' } } }),
  ]) {
    t.equal(parseAttestation(text), null, `${text.slice(0, 30)} is none`);
  }
});

t.test('the arguments of run, to which sudo opens the door', async (t) => {
  const cases: readonly { why: string; argv: readonly string[]; tenant: string | null }[] = [
    { why: 'the one form', argv: ['--tenant', 'acme', '--', 'cat'], tenant: 'acme' },
    {
      why: 'the command may hold anything',
      argv: ['--tenant', 'acme', '--', 'x', '--tenant', 'b', '--'],
      tenant: 'acme',
    },
    {
      why: 'sudo takes this for --tenant acme -- x',
      argv: ['--tenant', 'acme -- x', '--tenant', 'b', '--', 'id'],
      tenant: null,
    },
    { why: 'an option more', argv: ['--tenant', 'acme', '--unproven', '--', 'id'], tenant: null },
    { why: 'joined', argv: ['--tenant=acme', '--', 'id'], tenant: null },
    { why: 'twice', argv: ['--tenant', 'acme', '--tenant', 'b', '--', 'id'], tenant: null },
    { why: 'no separator', argv: ['--tenant', 'acme', 'id'], tenant: null },
    { why: 'no command', argv: ['--tenant', 'acme', '--'], tenant: null },
    { why: 'a name that is none', argv: ['--tenant', 'acme\n', '--', 'id'], tenant: null },
    { why: 'nothing', argv: [], tenant: null },
  ];
  for (const { why, argv, tenant } of cases) t.equal(readRunArguments(argv)?.tenant ?? null, tenant, why);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom('--tenant', 'acme', '--', 'acme -- x', 'b'), fc.string())),
      (argv) => {
        // Whatever sudo lets through by its pattern for acme runs for acme, or not at all.
        if (!argv.join(' ').startsWith('--tenant acme -- ')) return true;
        return (readRunArguments(argv)?.tenant ?? 'acme') === 'acme';
      },
    ),
    { numRuns: 2000 },
  );
});

t.test('how work ended', async (t) => {
  t.strictSame(parseEnding('exited 3\n'), { kind: 'exited', status: 3 });
  t.strictSame(parseEnding('killed TERM\n'), { kind: 'signalled', signal: 'SIGTERM' });
  t.strictSame(parseEnding('dumped ABRT\n'), { kind: 'signalled', signal: 'SIGABRT' });
  for (const text of ['', 'exited', 'exited x', 'killed ; rm', 'exited 3333']) {
    t.match(parseEnding(text), { kind: 'unknown' }, `"${text}" does not tell`);
  }
  t.ok(isSetUpStatus(226) && !isSetUpStatus(127));
});

t.test('the unit', async (t) => {
  const run = {
    tenant: 'a-b',
    proxy: { address: '127.86.0.2', port: 3128 },
    command: ['/bin/echo', '$HOME', '${X}', '%n', 'a b'] as [string, ...string[]],
    unit: 'watertight-run-1.service',
    endingFolder: '/run/watertight/runs/watertight-run-1.service',
  };
  const argv = transientUnit(run);
  t.ok(argv.includes('--slice=watertight-a\\x2db.slice'), 'a hyphen does not make a slice below a slice');
  t.strictSame(
    argv.slice(argv.indexOf('--') + 1),
    ['/bin/echo', '$$HOME', '$${X}', '%n', 'a b'],
    'systemd expands no variable',
  );
  for (const { property, value } of SANDBOX)
    t.ok(argv.includes(`--property=${property}=${value}`), `${property} is set`);
  t.ok(argv.includes('--property=SupplementaryGroups='), 'no group of anybody else');
  const environment = confinedEnvironment(run.proxy);
  t.equal(environment.NO_PROXY, '', 'nothing goes past the proxy by a list');
  t.equal(environment.PLAYWRIGHT_MCP_PROXY_BYPASS, '<-loopback>', 'nor by what Chromium leaves out by itself');
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (command) => {
      const passed = transientUnit({ ...run, command: command as [string, ...string[]] });
      const after = passed.slice(passed.indexOf('--') + 1);
      return (
        after.length === command.length && after.every((text, index) => text.replaceAll('$$', '$') === command[index])
      );
    }),
  );
});

t.test('the program', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'watertight-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const [plain, program] = [join(folder, 'plain'), join(folder, 'program')];
  await Promise.all([writeFile(plain, ''), writeFile(program, '#!/bin/sh\n')]);
  await chmod(program, 0o755);
  const anybody: AsTenant = async () => true;
  t.strictSame(await findExecutable(program, anybody), { kind: 'found', path: program });
  t.match(await findExecutable('sh', anybody), { kind: 'found' }, 'a bare name, on the confined PATH');
  for (const name of ['', './program', 'no-such-program', folder, 'a\0b']) {
    t.strictSame(await findExecutable(name, anybody), { kind: 'not-found' }, `"${name}"`);
  }
  const sees: AsTenant = async (flag) => flag === '-e';
  t.strictSame(await findExecutable(plain, sees), { kind: 'not-executable', path: plain }, 'seen, and no program');
  const blind: AsTenant = async () => false;
  t.strictSame(await findExecutable(program, blind), { kind: 'not-found' }, 'what root alone sees is not there');
});

t.test('descriptors', async (t) => {
  const table =
    'Num       RefCount Protocol Flags    Type St Inode Path\n0000000000000000: 00000002 00000000 00010000 0001 01 20871 /run/x\n';
  t.strictSame([...unixInodes(table)], ['20871']);
  t.strictSame(await foreignSockets(), [], 'pipes and files are no sockets');
});
