import { isRecord, parseJson } from '../../core/json.js';
import { lastLines } from '../../core/last-lines.js';
import { newNonce } from '../../core/nonce.js';
import type { Target } from '../../core/target/target.js';
import program from '../../host/confined-child/address-filter.py';
import { sliceUnit } from '../../profiles/names.js';
import type { TenantProfile } from '../../profiles/profile.js';
import type { AddressFilterState, FilterObservation } from '../host-state.js';

const DEADLINE_MS = 10_000;
/** An address of loopback that no tenant's proxy has (core/configuration/proxy-address.ts). */
const DENIED = '127.0.0.1';

/** Tries the slice's address filter by itself, and the same outside the slice. Never throws. */
export async function readAddressFilter(local: Target, tenant: TenantProfile): Promise<AddressFilterState> {
  const argv = ['/usr/bin/python3', '-I', '-c', program, DENIED, tenant.proxy.address];
  const unit = [`--unit=watertight-filter-${newNonce('n')}`, `--slice=${sliceUnit(tenant.name)}`];
  // systemd would replace $NAME in arguments (systemd.service(5), "Command lines").
  const escaped = argv.map((argument) => argument.replaceAll('$', '$$$$'));
  const [within, outside] = await Promise.all([
    run(local, ['systemd-run', '--quiet', '--pipe', '--wait', '--collect', ...unit, '--', ...escaped]),
    run(local, argv),
  ]);
  if (typeof within === 'string') return { kind: 'unknown', reason: within };
  if (typeof outside === 'string') return { kind: 'unknown', reason: `the control: ${outside}` };
  return { kind: 'seen', within, outside };
}

/** @returns what was observed, or why nothing was */
async function run(local: Target, command: readonly string[]): Promise<FilterObservation | string> {
  const result = await local.exec({ command: command as [string, ...string[]], deadlineMs: DEADLINE_MS });
  const value = parseJson(result.stdout.toString('utf8'));
  if (isRecord(value)) {
    const { cgroup, denied, allowed } = value;
    if (typeof cgroup === 'string' && typeof denied === 'string' && typeof allowed === 'string') {
      return { cgroup, denied, allowed };
    }
  }
  const said = lastLines(result.stderr.toString('utf8'), 1) || 'no answer';
  return `the address filter could not be tried (${result.outcome.kind}): ${said}`;
}
