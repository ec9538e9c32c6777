import type { Suite } from './names.js';

/** One disposable host. */
export interface LabHost {
  readonly name: string;
  /** From 1; the host's addresses and its cable's name follow from it. */
  readonly number: number;
  readonly address: string;
  readonly address6: string;
  /** The host's systemd, as the machine numbers processes; null while the host is not running. */
  readonly initPid: number | null;
}

/** A set of disposable hosts on a network of their own. */
export interface Lab {
  readonly name: string;
  readonly suite: Suite;
  readonly directory: string;
  /** An inventory that every command takes (`--config`). */
  readonly inventory: string;
  /** Private key of the user `ops` on every host. */
  readonly identity: string;
  readonly knownHosts: string;
  readonly gateway: string;
  readonly gateway6: string;
  readonly hosts: readonly LabHost[];
}
