import { UsageFailure } from '../../core/failure.js';

/** First descriptor that a service manager passes: SD_LISTEN_FDS_START of sd_listen_fds(3). */
const FIRST = 3;

/**
 * Descriptors passed by socket activation, and only those meant for this process. Takes the variables out of the
 * environment, so that no child believes them.
 */
export function inheritedDescriptors(environment: NodeJS.ProcessEnv, pid: number): number[] {
  const { LISTEN_PID, LISTEN_FDS } = environment;
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete environment[name];
  if (LISTEN_PID === undefined && LISTEN_FDS === undefined) return [];
  if (LISTEN_PID !== String(pid)) return [];
  if (!/^[1-9]\d{0,2}$/.test(LISTEN_FDS ?? '')) {
    throw new UsageFailure(`LISTEN_FDS is ${JSON.stringify(LISTEN_FDS)}: expected a number of descriptors`);
  }
  return Array.from({ length: Number(LISTEN_FDS) }, (_, index) => FIRST + index);
}
