import type { Presence } from '../core/outcome.js';
import type { Output } from './read.js';

/** What a prerequisite is needed for: provision needs a host that it can change, verify one that was provisioned. */
export type Phase = 'provision' | 'verify';

/** The command that mends something, on this host. */
export type Fix = (context: Context) => string;

export interface Judgement {
  readonly presence: Presence;
  /** In a few words: a version, a number. */
  readonly found: string;
  readonly reason: string;
  /** Where it is another than the question's own. */
  readonly fix?: Fix;
}

/** What a judgement may depend on besides the host's answer. */
export interface Context {
  /** The host as its operator calls it. */
  readonly host: string;
  /** The controller's clock when the probe was sent and when it was back, in milliseconds since 1970. */
  readonly sentMs: number;
  readonly backMs: number;
  /** SHA-256 of the program that this controller would install; null where it has none beside it. */
  readonly bundleDigest: string | null;
  readonly version: string;
}

export type Outputs = ReadonlyMap<string, Output>;

/** One prerequisite. Its id is also the name by which the script knows the question. */
export interface Question {
  readonly id: string;
  readonly question: string;
  readonly neededFor: readonly Phase[];
  /** A claim names this lack by its effect, so that verification goes on where it is absent. */
  readonly provenByClaims?: boolean;
  /** Mends what is absent. What could not be told is not mended by it. */
  readonly fix: Fix;
  /** How a person asks the host the same, and sees what keeps it from answering: one command line, a program first. */
  readonly look: string;
  readonly judge: (outputs: Outputs, context: Context) => Judgement;
}

export const provisionFix: Fix = ({ host }) => `watertight provision ${host}`;

/** Where a program hangs, is not the one that it should be, or fails: which one it is, and what it does. */
export function lookFix(look: string): Fix {
  const [program] = look.split(' ');
  return ({ host }) =>
    `see what ${program} is and does there, as root on ${host}: command -v ${program}; timeout 5 ${look}`;
}

/** Yes. `found` is what was seen, `reason` the sentence about it. */
export function present(found: string, reason: string): Judgement {
  return { presence: 'present', found, reason };
}

/** No: asked, and it is not so. */
export function absent(found: string, reason: string): Judgement {
  return { presence: 'absent', found, reason };
}

/** Could not tell: never a yes, never a no. */
export function cannotTell(reason: string, found = '', fix?: Fix): Judgement {
  return { presence: 'error', found, reason, ...(fix === undefined ? {} : { fix }) };
}

/** Statuses of timeout(1) where it had to end the tool: by SIGTERM, or by SIGKILL a second later. */
const ENDED_BY_TIMEOUT = new Set([124, 137]);

/** Why an output does not say what was looked for. */
export function unclear(tool: string, output: Output | undefined): Judgement {
  if (output === undefined) return cannotTell(`${tool} was not asked`);
  if (output.kind !== 'said') return cannotTell(`${tool} is not there to be asked`);
  if (ENDED_BY_TIMEOUT.has(output.status)) return cannotTell(`${tool} did not answer in time, twice`);
  const [line = ''] = output.text.split('\n');
  return cannotTell(
    `${tool} gave an answer that cannot be read (status ${output.status}): ${line.slice(0, 120) || 'nothing'}`,
  );
}

/** The match of a pattern in an output of status 0; null where there is none. */
export function matchOf(output: Output | undefined, pattern: RegExp): RegExpExecArray | null {
  return output?.kind === 'said' && output.status === 0 ? pattern.exec(output.text) : null;
}

/** Compares dotted numbers, part by part: at least the minimum. */
export function atLeast(version: string, minimum: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, least] of minimum.split('.').map(Number).entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
