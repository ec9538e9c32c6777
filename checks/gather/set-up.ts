import { mkdtemp, rm } from 'node:fs/promises';
import type { Target } from '../../core/target/target.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { Stage } from '../stage.js';
import { startFarSink } from './far-sink.js';
import { readRuleset } from './host-state.js';
import { openNearSinks } from './near-sinks.js';

/** Folders that programs of a host share, whoever they are. */
const SHARED = ['/tmp', '/dev/shm'] as const;

/**
 * Sets up what a run needs once: the sinks, the marked folders, and the live ruleset.
 * @returns the stage, and what takes it away again
 * @throws Error with the reason; what was set up by then is taken away
 */
export async function setUpStage(local: Target, profile: HostProfile) {
  const undo: (() => Promise<void>)[] = [];
  const kept = async <T>(made: Promise<T>, close: (made: T) => Promise<void>): Promise<T> => {
    const value = await made;
    undo.push(() => close(value));
    return value;
  };
  const close = async () => {
    await Promise.all(undo.splice(0).map((run) => run()));
  };
  const farSink = kept(startFarSink(local), (sink) => sink.close());
  // Some of the listeners on the host stand on its end of the far sink's network.
  const nearSinks = farSink.then(() => kept(openNearSinks(), (sinks) => sinks.close()));
  const folders = SHARED.map((folder) =>
    kept(mkdtemp(`${folder}/watertight-`), (made) => rm(made, { recursive: true })),
  );
  const all = [readRuleset(local, profile), farSink, nearSinks, Promise.all(folders)] as const;
  const failed = (await Promise.allSettled(all)).find((part) => part.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const [ruleset, far, near, markers] = await Promise.all(all);
  const stage: Stage = { local, profile, ruleset, far, near, markers };
  return { stage, close };
}
