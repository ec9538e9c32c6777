import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fingerprint, type HostKeyAlgorithm, hostKeyAlgorithms, judgeKey } from './host-key.js';
import { entriesFor, type KnownHost, keyType, knownHostsName, parseKnownHosts } from './known-hosts.js';
import { quote } from './quote.js';
import type { SshSettings } from './settings.js';
import type { ConnectionFailure } from './target.js';

/** The check of one host's key, made ready before the handshake. */
export interface HostKeyCheck {
  readonly algorithms: readonly HostKeyAlgorithm[];
  /** Judges the offered key; null lets it pass. A new key that settings let pass is added to known_hosts first. */
  judge(key: Buffer): Promise<ConnectionFailure | null>;
}

/** @throws Error where a known_hosts file is there and cannot be read: it may hold the line that forbids the key. */
export async function hostKeyCheck(settings: SshSettings): Promise<HostKeyCheck> {
  const entries = (await Promise.all(settings.knownHosts.map(readKnownHosts))).flat();
  const name = settings.hostKeyAlias?.toLowerCase() ?? knownHostsName(settings.address, settings.port);
  return {
    algorithms: hostKeyAlgorithms(entries, name),
    judge: async (key) => {
      const verdict = judgeKey(entries, name, key);
      const offered = fingerprint(key);
      switch (verdict.kind) {
        case 'known':
          return null;
        case 'changed':
          return changed(settings, name, offered, verdict.expected);
        case 'revoked':
          return { kind: 'host-key-revoked', offered, fix: `${verdict.place} revokes it: give the host a new key` };
        case 'authority-only':
          return { kind: 'host-key-unknown', offered, fix: authorityFix(settings, verdict.place) };
        case 'unknown':
          return unknown(settings, entries, name, key, offered);
      }
    },
  };
}

async function unknown(
  settings: SshSettings,
  entries: readonly KnownHost[],
  name: string,
  key: Buffer,
  offered: string,
): Promise<ConnectionFailure | null> {
  // As OpenSSH does: a key that is recorded for the same host's port 22 will do.
  const portless = settings.hostKeyAlias === null ? settings.address.toLowerCase() : name;
  if (entriesFor(entries, portless).length > 0 && judgeKey(entries, portless, key).kind === 'known') return null;
  const [file] = settings.knownHosts;
  if (settings.unknownHostKeys === 'accept-new' && file !== undefined) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${name} ${keyType(key)} ${key.toString('base64')}\n`, { mode: 0o600 });
    return null;
  }
  return { kind: 'host-key-unknown', offered, fix: `compare the fingerprint, then: ${addCommand(settings)}` };
}

/** The command that adds the host's key. Behind a bastion only ssh itself gets there. */
function addCommand(settings: SshSettings): string {
  const file = settings.knownHosts[0] ?? '~/.ssh/known_hosts';
  const port = String(settings.port);
  if (settings.jump === null) return `ssh-keyscan -p ${port} ${quote([settings.address])} >> ${quote([file])}`;
  const jump = `${settings.jump.user}@${settings.jump.address}:${settings.jump.port}`;
  const options = ['-J', jump, '-o', `UserKnownHostsFile=${file}`, '-p', port, `${settings.user}@${settings.address}`];
  return `ssh ${quote(options)} true`;
}

function authorityFix(settings: SshSettings, place: string): string {
  return (
    `${place} vouches for this host through a certificate authority, and host certificates cannot be checked here: ` +
    `compare the fingerprint, then add the key itself: ${addCommand(settings)}`
  );
}

function changed(
  settings: SshSettings,
  name: string,
  offered: string,
  expected: readonly KnownHost[],
): ConnectionFailure {
  const [first] = expected;
  const file = first?.place.replace(/:\d+$/, '') ?? settings.knownHosts[0] ?? '~/.ssh/known_hosts';
  const forget = `ssh-keygen -R ${quote([name])} -f ${quote([file])}`;
  return {
    kind: 'host-key-changed',
    offered,
    expected: expected.map(({ key }) => fingerprint(key)),
    fix:
      `if nobody can say why it changed, do not connect; if the host was installed anew, compare the fingerprint ` +
      `on its own console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then: ${forget} && ${addCommand(settings)}`,
  };
}

async function readKnownHosts(file: string): Promise<KnownHost[]> {
  try {
    return parseKnownHosts(await readFile(file, 'utf8'), file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new Error(`${file} cannot be read: ${String(code)}`);
  }
}
