/** A host as the operator's inventory names it. What it says wins over ~/.ssh/config. */
export interface SshHostEntry {
  readonly name: string;
  /** Absent: HostName of ~/.ssh/config, or else the name itself. */
  readonly address?: string;
  readonly port?: number;
  readonly user?: string;
  /** Private key file. Where it is named, no other key is tried; an agent may hold it. */
  readonly identity?: string;
  /** known_hosts file. Where it is named, no other one is read. */
  readonly knownHosts?: string;
  /** As ProxyJump: [user@]host[:port], several with commas; `none` for a direct connection. */
  readonly jump?: string;
  readonly become?: 'sudo' | 'none';
}

/**
 * What to do about a host key that nobody knows: refuse it, or add it to known_hosts. A changed or revoked key is
 * refused in either case. `StrictHostKeyChecking no` is taken for `accept-new`: it would let a changed key in.
 */
export type UnknownHostKeys = 'refuse' | 'accept-new';

/** All that a connection needs to know, resolved. */
export interface SshSettings {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Private key files to try, in order. One that does not exist is passed over unless it was asked for by name. */
  readonly identities: readonly { readonly path: string; readonly required: boolean }[];
  /** Socket of an SSH agent; null for none. */
  readonly agent: string | null;
  /** Of the agent's keys, only those that belong to `identities`. */
  readonly identitiesOnly: boolean;
  /** Files to read; the first one is added to. */
  readonly knownHosts: readonly string[];
  /** Name to look up in known_hosts instead of address and port. */
  readonly hostKeyAlias: string | null;
  readonly unknownHostKeys: UnknownHostKeys;
  /** The bastion to go through; it may have one itself. */
  readonly jump: SshSettings | null;
  /** How to become root where a request asks for it. */
  readonly become: 'sudo' | 'none';
  /** Milliseconds for a connection to be there, repeated attempts included. */
  readonly connectTimeoutMs: number;
  /** What of ~/.ssh/config was not followed, in words for the operator. */
  readonly notes: readonly string[];
}
