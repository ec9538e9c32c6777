import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../failure.js';
import { EXIT } from '../outcome.js';
import type { SshHostEntry, SshSettings, UnknownHostKeys } from './settings.js';
import { readSshConfig, type SshConfigLookup } from './ssh-config.js';
import { absolute, expand, parseHop, portOf } from './ssh-words.js';

export type { SshHostEntry, SshSettings } from './settings.js';

export interface SshSettingsOptions {
  /** Default: of the user who runs this. */
  readonly home?: string;
  /** Read in this order, the first value wins. Default: ~/.ssh/config, /etc/ssh/ssh_config. */
  readonly configFiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly connectTimeoutMs?: number;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_IDENTITIES = ['id_ed25519', 'id_ecdsa', 'id_rsa'];
const GLOBAL_KNOWN_HOSTS = ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2'];
/** A chain of bastions longer than this goes round in circles. */
const MAX_JUMPS = 8;

/**
 * Merges an inventory entry with ~/.ssh/config and OpenSSH's defaults.
 * @throws Failure where ~/.ssh/config asks for what cannot be done here, or cannot be read.
 */
export function resolveSshSettings(host: SshHostEntry, options: SshSettingsOptions = {}): SshSettings {
  const home = options.home ?? homedir();
  const files = options.configFiles ?? [join(home, '.ssh/config'), '/etc/ssh/ssh_config'];
  const context: Context = { home, options, config: readSshConfig(files, home) };
  return resolve(host, context, 0);
}

interface Context {
  readonly home: string;
  readonly options: SshSettingsOptions;
  readonly config: SshConfigLookup;
}

function resolve(host: SshHostEntry, context: Context, jumps: number): SshSettings {
  if (jumps > MAX_JUMPS) throw new Failure(`${host.name}: the chain of ProxyJump hosts has no end`, EXIT.configuration);
  const { values, notes } = context.config(host.name, host.user);
  const one = (key: string) => values[key]?.[0];
  const localUser = userInfo().username;
  const address = host.address ?? expand(one('hostname'), { h: host.name }) ?? host.name;
  const user = host.user ?? one('user') ?? localUser;
  const port = host.port ?? portOf(one('port'), host.name) ?? 22;
  const tokens = { d: context.home, h: address, n: host.name, p: String(port), r: user, u: localUser };
  const path = (text: string) => absolute(expand(text, tokens) ?? text, context.home);
  const jump = host.jump ?? one('proxyjump');
  if (host.jump === undefined && jump === undefined) refuseProxyCommand(one('proxycommand'), host.name);
  return {
    name: host.name,
    address,
    port,
    user,
    identities: identities(host, values, path, context.home),
    agent: agent(one('identityagent'), context, path),
    identitiesOnly: host.identity !== undefined || isYes(one('identitiesonly')),
    knownHosts: knownHostsFiles(host, values, path, context.home),
    hostKeyAlias: one('hostkeyalias') ?? null,
    unknownHostKeys: unknownHostKeys(one('stricthostkeychecking')),
    jump: jump === undefined || jump.toLowerCase() === 'none' ? null : jumpHost(jump, host, context, jumps),
    become: host.become ?? 'sudo',
    connectTimeoutMs: context.options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    notes,
  };
}

function identities(
  host: SshHostEntry,
  values: Values,
  path: (text: string) => string,
  home: string,
): SshSettings['identities'] {
  if (host.identity !== undefined) return [{ path: path(host.identity), required: true }];
  const configured = values.identityfile?.filter((file) => file.toLowerCase() !== 'none');
  if (configured !== undefined) return configured.map((file) => ({ path: path(file), required: false }));
  return DEFAULT_IDENTITIES.map((file) => ({ path: join(home, '.ssh', file), required: false }));
}

type Values = Readonly<Record<string, readonly string[]>>;

function knownHostsFiles(
  host: SshHostEntry,
  values: Values,
  path: (text: string) => string,
  home: string,
): readonly string[] {
  if (host.knownHosts !== undefined) return [path(host.knownHosts)];
  const user = values.userknownhostsfile ?? [join(home, '.ssh/known_hosts'), join(home, '.ssh/known_hosts2')];
  const global = values.globalknownhostsfile ?? GLOBAL_KNOWN_HOSTS;
  return [...user, ...global].filter((file) => file.toLowerCase() !== 'none').map(path);
}

function agent(configured: string | undefined, context: Context, path: (text: string) => string): string | null {
  const environment = context.options.environment ?? process.env;
  if (configured === undefined || configured === 'SSH_AUTH_SOCK') return environment.SSH_AUTH_SOCK || null;
  if (configured.toLowerCase() === 'none') return null;
  if (configured.startsWith('$')) return environment[configured.replace(/^\$\{?|\}$/g, '')] || null;
  return path(configured);
}

function unknownHostKeys(value: string | undefined): UnknownHostKeys {
  const accepting = ['accept-new', 'no', 'off'];
  return value !== undefined && accepting.includes(value.toLowerCase()) ? 'accept-new' : 'refuse';
}

/** The last host of the list is the one next to the target; the others lead to it. */
function jumpHost(list: string, host: SshHostEntry, context: Context, jumps: number): SshSettings {
  const hops = list.split(',').map((hop) => hop.trim());
  const last = parseHop(hops.pop() ?? '', host.name);
  const before = hops.length > 0 ? { jump: hops.join(',') } : {};
  // The inventory's own files hold for its bastions too; ~/.ssh/config says the rest about them.
  const shared = {
    ...(host.knownHosts === undefined ? {} : { knownHosts: host.knownHosts }),
    ...(host.identity === undefined ? {} : { identity: host.identity }),
  };
  return resolve({ ...last, ...before, ...shared }, context, jumps + 1);
}

function refuseProxyCommand(command: string | undefined, host: string): void {
  if (command === undefined || command.toLowerCase() === 'none') return;
  throw new Failure(
    `${host}: ~/.ssh/config has a ProxyCommand for it, which is not supported`,
    EXIT.configuration,
    `name the bastion with ProxyJump there, or with "jump" in the inventory (jump: none connects directly)`,
  );
}

function isYes(value: string | undefined): boolean {
  return value?.toLowerCase() === 'yes';
}
