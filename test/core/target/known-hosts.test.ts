import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { fingerprint, hostKeyAlgorithms, judgeKey } from '../../../core/target/host-key.js';
import { hostKeyCheck } from '../../../core/target/host-key-check.js';
import { keyType, knownHostsName, parseKnownHosts } from '../../../core/target/known-hosts.js';
import { resolveSshSettings, type SshSettings } from '../../../core/target/ssh-settings.js';

/** A public key blob: the type, then as many bytes as it takes to tell it from others. */
function blob(type: string, seed: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.alloc(32, seed)]);
}

const ED = blob('ssh-ed25519', 1);
const ED2 = blob('ssh-ed25519', 2);
const ECDSA = blob('ecdsa-sha2-nistp256', 3);
const RSA = blob('ssh-rsa', 4);

const line = (names: string, key: Buffer, marker = '') =>
  `${marker} ${names} ${keyType(key)} ${key.toString('base64')} x`;

function hashed(name: string): string {
  const salt = Buffer.from('0123456789abcdefghij');
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
}

t.test('judgeKey', async (t) => {
  const cases: { why: string; file: string[]; name?: string; key?: Buffer; kind: string }[] = [
    { why: 'a plain name', file: [line('h', ED)], kind: 'known' },
    { why: 'an empty file', file: [], kind: 'unknown' },
    { why: 'one of a list', file: [line('a,h,10.0.0.1', ED)], kind: 'known' },
    { why: 'another host', file: [line('g', ED)], kind: 'unknown' },
    { why: 'a part of a name is another name', file: [line('hh,xh,h.x', ED)], kind: 'unknown' },
    { why: 'capitals do not count', file: [line('H', ED)], kind: 'known' },
    { why: 'another key', file: [line('h', ED2)], kind: 'changed' },
    { why: 'one key of several', file: [line('h', ED2), line('h', ED)], kind: 'known' },
    { why: 'a key of another type alone', file: [line('h', ECDSA)], kind: 'changed' },
    { why: 'a type that is never offered', file: [line('h', blob('ssh-dss', 9))], kind: 'unknown' },
    { why: 'a hashed name', file: [line(hashed('h'), ED)], kind: 'known' },
    { why: 'a hashed name of another host', file: [line(hashed('g'), ED)], kind: 'unknown' },
    { why: 'a hashed name with its port', file: [line(hashed('[h]:2222'), ED)], name: '[h]:2222', kind: 'known' },
    { why: 'a port', file: [line('[h]:2222', ED)], name: '[h]:2222', kind: 'known' },
    { why: 'another port', file: [line('[h]:2223', ED)], name: '[h]:2222', kind: 'unknown' },
    { why: 'a star', file: [line('*.lab', ED)], name: 'a.b.lab', kind: 'known' },
    { why: 'a question mark', file: [line('10.0.0.?', ED)], name: '10.0.0.7', kind: 'known' },
    { why: 'a question mark is one character', file: [line('10.0.0.?', ED)], name: '10.0.0.77', kind: 'unknown' },
    { why: 'a dot is a dot', file: [line('10.0.0.1', ED)], name: '10x0x0x1', kind: 'unknown' },
    { why: 'a negated pattern', file: [line('*.lab,!bad.lab', ED)], name: 'bad.lab', kind: 'unknown' },
    { why: 'a negated pattern in front', file: [line('!bad.lab,*.lab', ED)], name: 'bad.lab', kind: 'unknown' },
    { why: 'a negated pattern of another host', file: [line('*.lab,!bad.lab', ED)], name: 'ok.lab', kind: 'known' },
    { why: 'revoked', file: [line('h', ED, '@revoked')], kind: 'revoked' },
    { why: 'revoked and known: revoked wins', file: [line('h', ED), line('*', ED, '@revoked')], kind: 'revoked' },
    { why: 'revoked for others', file: [line('h', ED), line('g', ED, '@revoked')], kind: 'known' },
    { why: 'another key is revoked', file: [line('h', ED), line('*', ED2, '@revoked')], kind: 'known' },
    { why: 'an authority is no key', file: [line('*', ED, '@cert-authority')], kind: 'authority-only' },
    { why: 'an authority beside the key', file: [line('*', ED2, '@cert-authority'), line('h', ED)], kind: 'known' },
    { why: 'an unknown marker', file: [line('h', ED, '@trusted')], kind: 'unknown' },
    { why: 'a comment', file: [`# ${line('h', ED)}`], kind: 'unknown' },
    { why: 'a type that the key is not of', file: [`h ssh-rsa ${ED.toString('base64')}`], kind: 'unknown' },
    { why: 'broken lines around', file: ['h', 'h ssh-ed25519', '', '\t', line('h', ED)], kind: 'known' },
    { why: 'a hash of a version to come', file: [line(hashed('h').replace('|1|', '|2|'), ED)], kind: 'unknown' },
  ];
  for (const { why, file, name = 'h', key = ED, kind } of cases) {
    t.equal(judgeKey(parseKnownHosts(file.join('\r\n'), 'f'), name, key).kind, kind, why);
  }
  t.equal(knownHostsName('FD00::1', 22), 'fd00::1');
  t.equal(knownHostsName('h', 2222), '[h]:2222');
});

t.test('whatever a file holds, an unlisted key is never known', async () => {
  const word = fc.oneof(fc.constantFrom('h', '*', '!h', '@revoked', '|1|', '|1|a|b', 'ssh-ed25519'), fc.string());
  const text = fc.array(fc.array(word).map((words) => words.join(' '))).map((lines) => lines.join('\n'));
  fc.assert(fc.property(text, (file) => judgeKey(parseKnownHosts(file, 'f'), 'h', ED).kind !== 'known'));
});

t.test('algorithms of known keys come first', async (t) => {
  const file = [line('h', RSA), line('h', ECDSA), line('g', ED), line('h', ED, '@cert-authority')].join('\n');
  t.same(hostKeyAlgorithms(parseKnownHosts(file, 'f'), 'h').slice(0, 4), [
    'ecdsa-sha2-nistp256',
    'rsa-sha2-512',
    'rsa-sha2-256',
    'ssh-ed25519',
  ]);
  t.equal(hostKeyAlgorithms([], 'h')[0], 'ssh-ed25519');
});

t.test('with files', async (t) => {
  const folder = mkdtempSync('/tmp/watertight-test-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'known hosts');
  const settings = (more: Partial<SshSettings> = {}) => ({
    ...resolveSshSettings({ name: 'n', address: 'h', port: 2222, user: 'u', knownHosts: file }, { configFiles: [] }),
    ...more,
  });
  const judge = async (key: Buffer, more: Partial<SshSettings> = {}) => (await hostKeyCheck(settings(more))).judge(key);

  t.test('a fingerprint reads as ssh-keygen writes it', async (t) => {
    const key = join(folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const real = Buffer.from(readFileSync(`${key}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    const [, digest] = execFileSync('ssh-keygen', ['-lf', key], { encoding: 'utf8' }).split(' ');
    t.equal(fingerprint(real), `${digest} (ED25519)`);
  });
  t.test('names that ssh-keygen hashed are found', async (t) => {
    writeFileSync(join(folder, 'hashed'), `[h]:2222 ssh-ed25519 ${ED.toString('base64')}\n`);
    const real = execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'k2')]);
    t.equal(real.length, 0);
    const publicKey = readFileSync(join(folder, 'k2.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
    writeFileSync(join(folder, 'hashed'), `[h]:2222,g ${publicKey}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', join(folder, 'hashed')], { stdio: 'ignore' });
    t.notMatch(readFileSync(join(folder, 'hashed'), 'utf8'), /2222/);
    const key = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64');
    t.equal(await judge(key, { knownHosts: [join(folder, 'hashed')] }), null);
  });
  t.test('an unknown key is refused with the command that adds it', async (t) => {
    t.match(await judge(ED), {
      kind: 'host-key-unknown',
      offered: fingerprint(ED),
      fix: `ssh-keyscan -p 2222 h >> '${file}'`,
    });
    const behind = await judge(ED, { jump: settings({ address: 'bastion', port: 22 }) });
    t.match(behind, { kind: 'host-key-unknown', fix: /ssh -J u@bastion:22 .* true/ }, 'ssh-keyscan cannot jump');
  });
  t.test('a changed key is refused with both fingerprints, whatever the settings', async (t) => {
    writeFileSync(file, `${line('[h]:2222', ED2)}\n`);
    for (const unknownHostKeys of ['refuse', 'accept-new'] as const) {
      t.match(await judge(ED, { unknownHostKeys }), {
        kind: 'host-key-changed',
        offered: fingerprint(ED),
        expected: [fingerprint(ED2)],
        fix: `ssh-keygen -R '[h]:2222' -f '${file}'`,
      });
    }
    writeFileSync(file, `${line('*', ED, '@revoked')}\n`);
    t.match(await judge(ED, { unknownHostKeys: 'accept-new' }), { kind: 'host-key-revoked', fix: `${file}:1` });
    writeFileSync(file, `${line('*', ED2, '@cert-authority')}\n`);
    t.match(await judge(ED), { kind: 'host-key-unknown', fix: /certificate authority/ });
  });
  t.test('accept-new adds a key once, and it counts from then on', async (t) => {
    const fresh = join(folder, 'new/known_hosts');
    const accepting = { unknownHostKeys: 'accept-new', knownHosts: [fresh] } as const;
    t.equal(await judge(ED, accepting), null);
    t.equal(await judge(ED, accepting), null);
    t.match(readFileSync(fresh, 'utf8'), /^\[h\]:2222 ssh-ed25519 \S+\n$/);
    t.match(await judge(ED2, accepting), { kind: 'host-key-changed' });
  });
  t.test('as OpenSSH does, a key recorded without its port will do', async (t) => {
    writeFileSync(file, `${line('h', ED)}\n`);
    t.equal(await judge(ED), null);
    t.match(await judge(ED2), { kind: 'host-key-unknown' }, 'but it is no reason to call another key changed');
    t.match(await judge(ED, { hostKeyAlias: 'alias' }), { kind: 'host-key-unknown' }, 'an alias stands for itself');
  });
  t.test('a file that is there and cannot be read may hold what forbids the key', async (t) => {
    await t.rejects(judge(ED, { knownHosts: [folder] }), /cannot be read/);
  });
});
