import { digestOf } from '../core/digest.js';
import type { HostProfile } from './profile.js';

/** SHA-256 by which a controller and a host tell whether they mean the same profile. */
export function profileDigest(profile: HostProfile): string {
  return digestOf(JSON.stringify(profile));
}
