import { verifyLocal } from '../../checks/verify-local.js';
import type { ExitCode } from '../../core/outcome.js';
import type { HostProfile } from '../../profiles/profile.js';
import type { ProofEvent } from './events.js';

/** Proves every claim on this host, whose lock the caller holds, and attests it. The run's own frame is left out. */
export function proveHere(profile: HostProfile, emit: (event: ProofEvent) => void): Promise<ExitCode> {
  return verifyLocal({ profile, locked: true }, (event) => {
    if (event.type !== 'started' && event.type !== 'finished') emit(event);
  });
}
