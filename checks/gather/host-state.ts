import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import type { Target } from '../../core/target/target.js';
import { slicePath, TABLE, tenantUser } from '../../profiles/names.js';
import { renderRuleset } from '../../profiles/nftables.js';
import type { HostProfile, TenantProfile } from '../../profiles/profile.js';
import { compareListings, type Listing, readListing } from '../../profiles/ruleset-state.js';
import { type ChildIdentity, parseStatus } from '../child-identity.js';
import type { ChildState, HostState, RulesetState } from '../host-state.js';
import { readAddressFilter } from './address-filter.js';
import { readPolicy } from './policy.js';

const CGROUP_ROOT = '/sys/fs/cgroup';
const DEADLINE_MS = 5000;
const LIST = ['nft', 'list', 'table', 'inet', TABLE] as const;
/** The profile's rules, as this host's kernel and nft make them now: a namespace of its own, gone with the process. */
const LOAD_AND_LIST = ['unshare', '--net', '/bin/sh', '-c', `nft -f - && exec ${LIST.join(' ')}`] as const;

/** Reads what the kernel holds of a tenant's containment. Never throws. */
export async function readHostState(
  local: Target,
  tenant: TenantProfile,
  ruleset: RulesetState,
  confined: { readonly pid: number | null; readonly problem: string | null },
): Promise<HostState> {
  const path = slicePath(tenant.name);
  const [inode, child, uid, addressFilter, policy] = await Promise.all([
    inodeOf(path),
    readChild(confined),
    uidOf(local, tenant.name),
    readAddressFilter(local, tenant),
    readPolicy(tenant),
  ]);
  return { tenant: tenant.name, ruleset, cgroup: { path, inode }, child, uid, addressFilter, policy };
}

/** Reads the live table and holds it against the profile's. */
export async function readRuleset(local: Target, profile: HostProfile): Promise<RulesetState> {
  const content = renderRuleset(profile).content;
  const [live, expected] = await Promise.all([
    local.exec({ command: LIST, deadlineMs: DEADLINE_MS }).then(listingOf),
    local.exec({ command: LOAD_AND_LIST, input: content, deadlineMs: DEADLINE_MS }).then(listingOf),
  ]);
  switch (live.kind) {
    case 'listed':
      return { kind: 'listed', live: live.text, comparison: compareListings(live, expected) };
    case 'absent':
      return { kind: 'absent' };
    case 'no-tool':
      return { kind: 'unknown', reason: 'nft is not installed' };
    case 'error':
      return { kind: 'unknown', reason: live.reason };
  }
}

function listingOf(result: Awaited<ReturnType<Target['exec']>>): Listing {
  const { outcome } = result;
  if (outcome.kind === 'timed-out')
    return { kind: 'error', reason: `nft gave no answer within ${DEADLINE_MS / 1000} s` };
  if (outcome.kind === 'cannot-spawn') return { kind: 'no-tool' };
  if (outcome.kind !== 'exited') return { kind: 'error', reason: `nft did not end by itself (${outcome.kind})` };
  const text = outcome.status === 0 ? result.stdout : result.stderr;
  return readListing(String(outcome.status), text.toString('utf8'));
}

async function inodeOf(path: string): Promise<number | null> {
  try {
    return (await stat(`${CGROUP_ROOT}/${path}`)).ino;
  } catch {
    return null;
  }
}

async function uidOf(local: Target, tenant: string): Promise<number | null> {
  const result = await local.exec({ command: ['id', '-u', tenantUser(tenant)], deadlineMs: DEADLINE_MS });
  const text = result.stdout.toString('utf8').trim();
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** Looks at the child from outside: a child that lies about itself changes nothing here. */
async function readChild({ pid, problem }: { pid: number | null; problem: string | null }): Promise<ChildState> {
  if (pid === null)
    return { kind: 'unknown', reason: `there is no confined child to look at: ${problem ?? 'no reason'}` };
  try {
    const [status, cgroups, descriptors] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/cgroup`, 'utf8'),
      readDescriptors(pid),
    ]);
    const fields = parseStatus(status);
    const cgroup = /^0::\/(.*)$/m.exec(cgroups)?.[1];
    if (fields === null || cgroup === undefined)
      return { kind: 'unknown', reason: `/proc/${pid} is not of the known form` };
    const sliceInode = await inodeOf(cgroup.split('/').slice(0, 2).join('/'));
    const identity: ChildIdentity = { pid, ...fields, cgroup, sliceInode, descriptors };
    return { kind: 'seen', identity };
  } catch (error) {
    return { kind: 'unknown', reason: `/proc/${pid} cannot be read: ${(error as NodeJS.ErrnoException).code}` };
  }
}

/** What the descriptors beyond the three standard ones lead to. */
async function readDescriptors(pid: number): Promise<string[]> {
  const numbers = (await readdir(`/proc/${pid}/fd`)).filter((number) => Number(number) > 2);
  return Promise.all(numbers.map((number) => readlink(`/proc/${pid}/fd/${number}`)));
}
