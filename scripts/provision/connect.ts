import type { HostEntry } from '../../core/configuration/configuration.js';
import { localTarget } from '../../core/target/local.js';
import { sshTarget } from '../../core/target/ssh.js';
import { resolveSshSettings } from '../../core/target/ssh-settings.js';
import type { Target } from '../../core/target/target.js';

/** A new connection to a host of the inventory; it is made when something is first run on it. */
export function connectTo(host: HostEntry): Target {
  return host.local ? localTarget(host.name) : sshTarget(resolveSshSettings(host));
}
