import type { Readable } from 'node:stream';

/** One program to run on a target, without a shell in between. */
export interface ExecRequest {
  /** Program and arguments; every element reaches the program byte for byte. A program never begins with `-`. */
  readonly command: readonly [string, ...string[]];
  /** Standard input. Absent: an empty one, closed at once. */
  readonly input?: Buffer | string | Readable;
  /** Milliseconds after which the whole process group on the target is ended. */
  readonly deadlineMs: number;
  /** Bytes kept of stdout and of stderr each; going over ends the run. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Run as root: through `sudo -n`, unless the target's user is root already. */
  readonly become?: boolean;
  /** Variables to set for the program, after sudo (which drops what it is given). */
  readonly environment?: Readonly<Record<string, string>>;
  /** Called with each complete line of stdout as it arrives (UTF-8, without its newline). */
  readonly onLine?: (line: string) => void;
  /** Ends the run: the remote process group is ended too. */
  readonly signal?: AbortSignal;
}

/** Why a run ended, or never began. Each cause has its own kind, so that none is ever taken for another. */
export type ExecOutcome =
  | { readonly kind: 'exited'; readonly status: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'output-limit'; readonly limitBytes: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'cannot-spawn'; readonly detail: string }
  | { readonly kind: 'become-refused'; readonly detail: string; readonly fix?: string }
  | ConnectionFailure;

/** What stands between this controller and a remote target. `fix` is a command or a setting a person can act on. */
export type ConnectionFailure =
  | { readonly kind: 'unreachable'; readonly detail: string; readonly fix: string }
  | { readonly kind: 'refused'; readonly detail: string; readonly fix: string }
  | { readonly kind: 'lost-connection'; readonly detail: string }
  | { readonly kind: 'authentication-failed'; readonly detail: string; readonly fix: string }
  | { readonly kind: 'host-key-unknown'; readonly offered: string; readonly fix: string }
  | {
      readonly kind: 'host-key-changed';
      readonly offered: string;
      readonly expected: readonly string[];
      readonly fix: string;
    }
  | { readonly kind: 'host-key-revoked'; readonly offered: string; readonly fix: string };

/** One shape for success and failure alike. Never thrown: `exec` always resolves. */
export interface ExecResult {
  readonly outcome: ExecOutcome;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly durationMs: number;
}

/** A file to be placed on a target: written beside its place and renamed, so it is whole or absent. */
export interface Upload {
  readonly path: string;
  readonly content: Buffer;
  /** Permission bits, for example 0o644. */
  readonly mode: number;
  readonly become?: boolean;
  readonly deadlineMs: number;
}

/** A machine to run programs on: this one, or one behind SSH. */
export interface Target {
  /** As the operator knows it, for messages. */
  readonly name: string;
  exec(request: ExecRequest): Promise<ExecResult>;
  upload(file: Upload): Promise<ExecResult>;
  /** Ends the connection, and what it still runs. Safe to call twice. */
  close(): Promise<void>;
}

/** True where the program ran to its end with status 0. */
export function succeeded(result: ExecResult): boolean {
  return result.outcome.kind === 'exited' && result.outcome.status === 0;
}
