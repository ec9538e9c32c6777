import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../core/message-of.js';
import { compilePolicy, missingPolicy, type Policy } from './policy.js';
import { parsePolicyFile } from './policy-file.js';

/** How the policy in force came to be so. */
export interface PolicyState {
  /** SHA-256 of the file, in hex: `sha256sum` of it says the same. Null where there was none. */
  readonly digest: string | null;
  /** When it was read. */
  readonly at: Date;
  readonly reloads: {
    readonly accepted: number;
    readonly refused: number;
    /** Why the last one was refused; null where it was not. */
    readonly refusal: string | null;
  };
}

export type Reloaded = { readonly ok: true; readonly policy: Policy } | { readonly ok: false; readonly why: string };

/** A policy file and what was read of it. */
export interface PolicySource {
  readonly first: Policy;
  /** Reads the file again. One that is absent or invalid is refused. */
  readonly reload: () => Reloaded;
  readonly state: () => PolicyState;
}

/**
 * Opens a policy file. Without one the policy denies everything.
 * @throws ConfigurationFailure where it is invalid
 */
export function policySource(path: string): PolicySource {
  const { policy: first, digest } = readFirst(path);
  let state: PolicyState = { digest, at: new Date(), reloads: { accepted: 0, refused: 0, refusal: null } };
  const reload = (): Reloaded => {
    const { accepted, refused } = state.reloads;
    try {
      const read = readPolicy(path);
      state = { digest: read.digest, at: new Date(), reloads: { accepted: accepted + 1, refused, refusal: null } };
      return { ok: true, policy: read.policy };
    } catch (error) {
      const why = messageOf(error);
      state = { ...state, reloads: { accepted, refused: refused + 1, refusal: why } };
      return { ok: false, why };
    }
  };
  return { first, reload, state: () => state };
}

interface Read {
  readonly policy: Policy;
  readonly digest: string | null;
}

function readPolicy(path: string): Read {
  return policyOf(readFileSync(path), path);
}

function policyOf(bytes: Buffer, path: string): Read {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { policy: compilePolicy(parsePolicyFile(bytes.toString('utf8'), path)), digest };
}

function readFirst(path: string): Read {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return { policy: missingPolicy(messageOf(error)), digest: null };
  }
  return policyOf(bytes, path);
}
