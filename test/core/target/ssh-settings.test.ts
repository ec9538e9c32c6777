import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Failure } from '../../../core/failure.js';
import { resolveSshSettings, type SshHostEntry } from '../../../core/target/ssh-settings.js';

const home = mkdtempSync('/tmp/watertight-test-');
t.teardown(() => rmSync(home, { recursive: true }));
mkdirSync(join(home, '.ssh/config.d'), { recursive: true });

const resolve = (config: string, entry: Partial<SshHostEntry> = {}, environment: Record<string, string> = {}) => {
  writeFileSync(join(home, '.ssh/config'), config);
  return resolveSshSettings({ name: 'web', ...entry }, { home, configFiles: [join(home, '.ssh/config')], environment });
};
const identity = (name: string) => ({ path: join(home, '.ssh', name), required: false });

t.test('what nobody says is as with OpenSSH', async (t) => {
  t.match(resolve('', {}, { SSH_AUTH_SOCK: '/run/agent' }), {
    name: 'web',
    address: 'web',
    port: 22,
    user: userInfo().username,
    identities: ['id_ed25519', 'id_ecdsa', 'id_rsa'].map(identity),
    agent: '/run/agent',
    identitiesOnly: false,
    knownHosts: [join(home, '.ssh/known_hosts'), join(home, '.ssh/known_hosts2'), '/etc/ssh/ssh_known_hosts'],
    hostKeyAlias: null,
    unknownHostKeys: 'refuse',
    jump: null,
    become: 'sudo',
    notes: [],
  });
});

t.test('~/.ssh/config', async (t) => {
  const cases: { why: string; config: string; entry?: Partial<SshHostEntry>; found: object }[] = [
    {
      why: 'a host section',
      config: 'Host web\n HostName 10.0.0.1\n Port 2222\n User deploy\n',
      found: { address: '10.0.0.1', port: 2222, user: 'deploy' },
    },
    { why: 'another host', config: 'Host other\n HostName 10.0.0.1\n', found: { address: 'web' } },
    { why: 'capitals do not count', config: 'host web\n hostname 10.0.0.1\n', found: { address: '10.0.0.1' } },
    {
      why: 'the first value wins',
      config: 'Host web\n Port 1\nHost *\n Port 2\n User u\n',
      found: { port: 1, user: 'u' },
    },
    { why: 'a negated pattern', config: 'Host * !web\n Port 2\n', found: { port: 22 } },
    {
      why: 'the name as a token',
      config: 'Host web\n HostName %h.example.org\n',
      found: { address: 'web.example.org' },
    },
    {
      why: 'key files, in order, with tokens',
      config: 'Host web\n User u\n IdentityFile ~/.ssh/a\n IdentityFile %d/.ssh/%r\nHost *\n IdentityFile ~/.ssh/c\n',
      found: { identities: ['a', 'u', 'c'].map(identity) },
    },
    { why: 'no agent', config: 'IdentityAgent none\n', found: { agent: null } },
    { why: 'an agent of its own', config: 'IdentityAgent ~/agent\n', found: { agent: join(home, 'agent') } },
    { why: 'an agent from a variable', config: 'IdentityAgent $MINE\n', found: { agent: '/mine' } },
    { why: 'only those keys', config: 'IdentitiesOnly yes\n', found: { identitiesOnly: true } },
    {
      why: 'known_hosts files',
      config: 'UserKnownHostsFile ~/a "~/b c"\nGlobalKnownHostsFile none\n',
      found: { knownHosts: [join(home, 'a'), join(home, 'b c')] },
    },
    { why: 'accept-new', config: 'StrictHostKeyChecking accept-new\n', found: { unknownHostKeys: 'accept-new' } },
    { why: 'no is accept-new', config: 'StrictHostKeyChecking no\n', found: { unknownHostKeys: 'accept-new' } },
    {
      why: 'ask is refuse: nobody is there to ask',
      config: 'StrictHostKeyChecking ask\n',
      found: { unknownHostKeys: 'refuse' },
    },
    {
      why: 'an unheard-of value is refuse',
      config: 'StrictHostKeyChecking maybe\n',
      found: { unknownHostKeys: 'refuse' },
    },
    { why: 'an alias for known_hosts', config: 'HostKeyAlias a\n', found: { hostKeyAlias: 'a' } },
    {
      why: 'the inventory wins',
      config: 'HostName c\nPort 1\nUser c\nIdentityFile ~/c\nUserKnownHostsFile ~/c\nProxyJump c\n',
      entry: { address: 'i', port: 2, user: 'i', identity: '/i', knownHosts: '/k', jump: 'none', become: 'none' },
      found: {
        address: 'i',
        port: 2,
        user: 'i',
        identities: [{ path: '/i', required: true }],
        identitiesOnly: true,
        knownHosts: ['/k'],
        jump: null,
        become: 'none',
      },
    },
  ];
  for (const { why, config, entry, found } of cases) {
    const settings = resolve(config, entry, { SSH_AUTH_SOCK: '/run/agent', MINE: '/mine' });
    t.same({ ...settings, ...found }, settings, why);
  }
});

t.test('what is not followed is said', async (t) => {
  const marker = join(home, 'executed');
  const settings = resolve(`Match exec "touch ${marker}"\n Port 1\nHost web\n CanonicalizeHostname yes\n`);
  t.equal(settings.port, 22);
  t.match(settings.notes, [/Match is not followed/, /CanonicalizeHostname inside a Host section/]);
  t.throws(() => rmSync(marker), { code: 'ENOENT' }, 'nothing is executed while it is read');
  writeFileSync(join(home, '.ssh/config.d/a.conf'), 'Host web\n Port 7\n');
  t.equal(resolve('Include config.d/*.conf\nPort 8\n').port, 7, 'Include is followed, relative to the file');
  t.equal(resolve('Include ~/.ssh/config.d/a.conf\n').port, 7, 'and from home');
  t.equal(resolve('Include nowhere/*.conf none\nPort 8\n').port, 8, 'a file that is not there says nothing');
});

t.test('ProxyJump', async (t) => {
  const config = 'Host web\n ProxyJump outer,me@inner:2200\nHost inner\n HostName 10.0.0.2\nHost outer\n User o\n';
  const { jump } = resolve(config);
  t.match(jump, { name: 'inner', address: '10.0.0.2', port: 2200, user: 'me' }, 'the last one is next to the host');
  t.match(jump?.jump, { name: 'outer', port: 22, user: 'o', jump: null });
  const own = resolve('Host a\n ProxyJump b\n', { jump: 'a', knownHosts: '/k', identity: '/i' });
  t.match(own.jump, { name: 'a', knownHosts: ['/k'], identities: [{ path: '/i' }], jump: { name: 'b' } });
  t.match(resolve('', { jump: '[fd00::1]:22' }).jump, { address: 'fd00::1', port: 22 });
  t.equal(resolve('ProxyJump none\n').jump, null);
});

t.test('what cannot be done is refused in a sentence', async (t) => {
  const cases: { why: string; config: string; entry?: Partial<SshHostEntry>; says: RegExp }[] = [
    { why: 'ProxyCommand', config: 'ProxyCommand nc %h %p\n', says: /ProxyCommand/ },
    { why: 'a circle', config: 'Host web\n ProxyJump b\nHost b\n ProxyJump web\n', says: /no end/ },
    { why: 'a port that is none', config: 'Port 99999\n', says: /"99999" is not a port/ },
    { why: 'a jump host that is none', config: '', entry: { jump: 'a b' }, says: /"a b" is not a jump host/ },
    { why: 'files that include each other', config: `Include ${home}/.ssh/config\n`, says: /circles/ },
  ];
  for (const { why, config, entry, says } of cases) {
    t.throws(() => resolve(config, entry), Failure, why);
    t.throws(() => resolve(config, entry), { message: says }, why);
  }
  t.equal(resolve('ProxyCommand none\n').jump, null);
  t.throws(() => resolveSshSettings({ name: 'web' }, { home, configFiles: [home] }), { message: /cannot be read/ });
});
