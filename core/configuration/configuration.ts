/** What the operator's file says, validated, with defaults merged in. */
export interface Configuration {
  /** Absolute path of the file it came from. */
  readonly path: string;
  readonly hosts: ReadonlyMap<string, HostEntry>;
  readonly tenants: ReadonlyMap<string, TenantEntry>;
}

export interface HostEntry {
  readonly name: string;
  /** Absent: the name is looked up in ~/.ssh/config and then resolved as it is. */
  readonly address?: string;
  readonly port?: number;
  readonly user?: string;
  /** Absolute path of a private key. */
  readonly identity?: string;
  /** Absolute path of a known_hosts file. */
  readonly knownHosts?: string;
  readonly jump?: string;
  readonly become: 'sudo' | 'none';
  /** This machine: no SSH. */
  readonly local: boolean;
  readonly tenants: readonly string[];
}

export interface TenantEntry {
  readonly name: string;
  /** In canonical spelling (allow-pattern.ts). */
  readonly allow: readonly string[];
  /** In canonical spelling; wins over `allow`. */
  readonly deny?: readonly string[];
  /** Absent: the proxy's own. */
  readonly limits?: TenantLimits;
  /** Of plain HTTP. Absent: all. */
  readonly methods?: readonly string[];
  readonly runtimes: readonly string[];
  /** Absent: off. */
  readonly sni?: SniMode;
  readonly proxy?: { readonly address?: string; readonly port?: number };
}

/** Bounds of a tenant's proxy. */
export interface TenantLimits {
  readonly connections?: number;
  readonly requests_per_second?: number;
}

/** Whether the TLS server name in a tunnel must be the host that the tunnel was asked for; `report` only logs. */
export type SniMode = 'enforce' | 'report' | 'off';

/** The file as it validates against the schema. */
export interface RawConfiguration {
  readonly version: 1;
  readonly defaults?: RawConnection;
  readonly hosts: Readonly<Record<string, RawHost>>;
  readonly tenants: Readonly<Record<string, RawTenant>>;
}

export interface RawConnection {
  readonly port?: number;
  readonly user?: string;
  readonly identity?: string;
  readonly known_hosts?: string;
  readonly jump?: string;
  readonly become?: 'sudo' | 'none';
  readonly connection?: 'ssh' | 'local';
}

export interface RawHost extends RawConnection {
  readonly address?: string;
  readonly tenants: readonly string[];
}

export interface RawTenant {
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
  readonly limits?: TenantLimits;
  readonly methods?: readonly string[];
  readonly runtimes?: readonly string[];
  readonly sni?: SniMode;
  readonly proxy?: { readonly address?: string; readonly port?: number };
}
