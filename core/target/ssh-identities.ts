import { readFile } from 'node:fs/promises';
import ssh2, { type AnyAuthMethod, type ParsedKey } from 'ssh2';
import type { SshSettings } from './settings.js';
import { Agent } from './ssh-agent.js';

/** The ways to authenticate, in the order in which they are tried, and what was passed over. */
export interface Identities {
  readonly methods: readonly AnyAuthMethod[];
  readonly problems: readonly string[];
}

/** Reads the private keys that the settings name and adds the agent's. Never throws: what fails becomes a problem. */
export async function loadIdentities(settings: SshSettings): Promise<Identities> {
  const methods: AnyAuthMethod[] = [];
  const problems: string[] = [];
  const publicKeys: Buffer[] = [];
  for (const { path, required } of settings.identities) {
    const read = await readIdentity(path);
    if (read.publicKey !== null) publicKeys.push(read.publicKey);
    if (read.key !== null) methods.push({ type: 'publickey', username: settings.user, key: read.key });
    else if (required || !read.missing) problems.push(read.problem);
  }
  if (settings.agent !== null) {
    const only = settings.identitiesOnly ? publicKeys : null;
    methods.push({ type: 'agent', username: settings.user, agent: new Agent(settings.agent, only) });
  }
  if (methods.length === 0) problems.push('there is no key to offer');
  return { methods, problems };
}

interface ReadIdentity {
  readonly key: ParsedKey | null;
  readonly publicKey: Buffer | null;
  readonly missing: boolean;
  readonly problem: string;
}

async function readIdentity(path: string): Promise<ReadIdentity> {
  let text: Buffer;
  try {
    text = await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { key: null, publicKey: null, missing: code === 'ENOENT', problem: `${path} cannot be read: ${code}` };
  }
  const key = firstKey(text);
  if (key instanceof Error) {
    // Most often a passphrase: then the agent may hold the key, and its public half says which one that is.
    const beside = firstKey(await readFile(`${path}.pub`).catch(() => Buffer.alloc(0)));
    const publicKey = beside instanceof Error ? null : beside.getPublicSSH();
    return { key: null, publicKey, missing: false, problem: `${path} cannot be used: ${key.message}` };
  }
  return {
    key: key.isPrivateKey() ? key : null,
    publicKey: key.getPublicSSH(),
    missing: false,
    problem: `${path} holds no private key`,
  };
}

function firstKey(text: Buffer): ParsedKey | Error {
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(text);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  return key ?? new Error('it holds no key');
}
