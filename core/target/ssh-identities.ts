import { readFile } from 'node:fs/promises';
import ssh2, { type AnyAuthMethod, type ParsedKey } from 'ssh2';
import { quote } from './quote.js';
import type { SshSettings } from './settings.js';
import { Agent } from './ssh-agent.js';

/** Why a key was not offered, and what mends that: a command or an edit. */
export interface IdentityProblem {
  readonly reason: string;
  readonly fix: string;
}

/** The ways to authenticate, in the order in which they are tried, and what was passed over. */
export interface Identities {
  readonly methods: readonly AnyAuthMethod[];
  readonly problems: readonly IdentityProblem[];
}

/** Reads the private keys that the settings name and adds the agent's. Never throws: what fails becomes a problem. */
export async function loadIdentities(settings: SshSettings): Promise<Identities> {
  const methods: AnyAuthMethod[] = [];
  const problems: IdentityProblem[] = [];
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
  if (methods.length === 0) problems.push({ reason: 'there is no key to offer', fix: NAME_A_KEY });
  return { methods, problems };
}

const NAME_A_KEY = 'name a private key with "identity" in the inventory, or load one into the agent (ssh-add)';

interface ReadIdentity {
  readonly key: ParsedKey | null;
  readonly publicKey: Buffer | null;
  readonly missing: boolean;
  readonly problem: IdentityProblem;
}

async function readIdentity(path: string): Promise<ReadIdentity> {
  let text: Buffer;
  try {
    text = await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { key: null, publicKey: null, missing: code === 'ENOENT', problem: unreadable(path, code) };
  }
  const key = firstKey(text);
  if (key instanceof Error) {
    // Most often a passphrase: then the agent may hold the key, and its public half says which one that is.
    const beside = firstKey(await readFile(`${path}.pub`).catch(() => Buffer.alloc(0)));
    const publicKey = beside instanceof Error ? null : beside.getPublicSSH();
    const fix = `load it into the agent: ssh-add ${quote([path])}`;
    return { key: null, publicKey, missing: false, problem: { reason: `${path} cannot be used: ${key.message}`, fix } };
  }
  return {
    key: key.isPrivateKey() ? key : null,
    publicKey: key.getPublicSSH(),
    missing: false,
    problem: { reason: `${path} holds no private key`, fix: NAME_A_KEY },
  };
}

/** A file that is there and closed to this user, or none at all. */
function unreadable(path: string, code: string): IdentityProblem {
  const reason = `${path} cannot be read: ${code}`;
  if (code === 'EACCES' || code === 'EPERM')
    return { reason, fix: `run this as the user who may read it (ls -l ${quote([path])}), or with sudo` };
  return { reason, fix: NAME_A_KEY };
}

function firstKey(text: Buffer): ParsedKey | Error {
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(text);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  return key ?? new Error('it holds no key');
}
