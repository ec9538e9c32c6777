import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import holdScript from './hold-lock.sh';
import { messageOf } from './message-of.js';
import { printable } from './printable.js';

export interface HostLock {
  readonly kind: 'locked';
  /** Resolves when the lock is free again. Safe to call twice. */
  release(): Promise<void>;
}

export type HostLockAnswer =
  | HostLock
  /** Somebody else holds it; `by` is what they said of themselves. */
  | { readonly kind: 'held'; readonly by: string }
  | { readonly kind: 'error'; readonly reason: string };

/** flock(1) ends with this where the lock is not free in time. */
const HELD = 75;

/**
 * Takes the host's lock: one provision or verify at a time.
 * @param path lock file, made where it is absent
 * @param options.waitMs how long to wait for whoever holds it, in milliseconds
 * @param options.who says to the next one who holds it, for example `provision`
 */
export async function acquireHostLock(
  path: string,
  options: { readonly waitMs: number; readonly who: string },
): Promise<HostLockAnswer> {
  const who = `${options.who}, process ${process.pid}`;
  try {
    return await takeLock(path, options.waitMs, who);
  } catch (error) {
    return { kind: 'error', reason: messageOf(error) };
  }
}

async function takeLock(path: string, waitMs: number, who: string): Promise<HostLockAnswer> {
  const args = ['-c', holdScript, 'watertight-lock', path, who, String(waitMs / 1000)];
  // A process group of its own: Ctrl-C on a terminal must not free the lock while we still take things back.
  const child = spawn('/bin/sh', args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(0, 500);
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status));
  });
  const locked = new Promise<'locked'>((resolve) => child.stdout.once('data', () => resolve('locked')));
  const first = await Promise.race([locked, ended]);
  if (first === HELD) return { kind: 'held', by: await holderOf(path) };
  if (first !== 'locked') return { kind: 'error', reason: printable(complaint.trim()) || `flock ended with ${first}` };
  return {
    kind: 'locked',
    release: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

async function holderOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return printable(text.trim().slice(0, 100)) || 'another process';
}
