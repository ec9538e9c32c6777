import type { SniMode, TenantLimits } from '../core/configuration/configuration.js';

/** What one host is to become: plain data, resolved from the operator's configuration, and all that a renderer sees. */
export interface HostProfile {
  readonly version: 1;
  readonly host: string;
  readonly tenants: readonly TenantProfile[];
}

export interface TenantProfile {
  readonly name: string;
  /** Allowlist entries as the operator wrote them, validated. */
  readonly allow: readonly string[];
  /** Unix users that may launch confined work for this tenant (for example the one that OpenCode runs as). */
  readonly runtimes: readonly string[];
  /** Entries that win over `allow`; one without a port denies every port. Absent: none. */
  readonly deny?: readonly string[];
  /** Absent: the proxy's own. */
  readonly limits?: TenantLimits;
  /** Methods that plain HTTP may use. Absent: all. */
  readonly methods?: readonly string[];
  /** Whether TLS in a tunnel must name the host that was asked for. Absent: off. */
  readonly sni?: SniMode;
  /** The tenant's own loopback address and the port of its proxy there. */
  readonly proxy: { readonly address: string; readonly port: number };
}

/** A file of the profile. */
export interface ProfileFile {
  readonly path: string;
  readonly content: string;
  /** Permission bits, for example 0o644. */
  readonly mode: number;
  readonly owner: string;
  readonly group: string;
  /** Program that must accept the candidate (its path is appended) before it takes its place; for example visudo -cf. */
  readonly check?: readonly [string, ...string[]];
}

export interface ProfileUser {
  readonly name: string;
  readonly comment: string;
}

export interface ProfileUnit {
  readonly name: string;
  /** Started at boot. */
  readonly enabled: boolean;
  /** To be running. False: started by something else (its socket, the next boot), and left as it is. */
  readonly active: boolean;
  /** What a running unit needs when files change. The first one that fits is carried out, so the strongest stands first. */
  readonly onChange: readonly UnitReaction[];
}

export interface UnitReaction {
  readonly paths: readonly string[];
  /** A verb of systemctl(1); the `try-` ones do nothing where the unit is not running. `none`: another unit sees to it. */
  readonly action: 'restart' | 'reload' | 'try-restart' | 'try-reload-or-restart' | 'none';
}

/** Everything that a contained host holds, in the order in which it may safely be put there: permission to launch last. */
export interface RenderedHost {
  /** Debian packages. */
  readonly packages: readonly string[];
  readonly users: readonly ProfileUser[];
  readonly files: readonly ProfileFile[];
  readonly units: readonly ProfileUnit[];
  /** Files that grant permission to launch: placed only after everything above holds, removed first. */
  readonly permissions: readonly ProfileFile[];
}
