import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { parseAttestation } from '../../core/attestation.js';
import { digestOf } from '../../core/digest.js';
import { messageOf } from '../../core/message-of.js';
import type { Target } from '../../core/target/target.js';
import { PATHS, slicePath, TABLE } from '../../profiles/names.js';
import type { TenantProfile } from '../../profiles/profile.js';
import { readListing } from '../../profiles/ruleset-state.js';
import type { ContainmentFacts, Fact } from './containment.js';

/** How long the launcher waits for nft, and for the proxy to take a connection. */
const DEADLINE_MS = 5000;

/** Reads what containment of a tenant rests on. Never throws: what could not be read is a fact too. */
export async function containmentFacts(local: Target, tenant: TenantProfile): Promise<ContainmentFacts> {
  const [attestation, bootId, rulesetDigest, cgroup, proxyAnswers] = await Promise.all([
    fact(async () => parseAttestation(await readFile(PATHS.attestation, 'utf8')), null),
    fact(readBootId),
    fact(() => liveRulesetDigest(local)),
    fact(async () => (await stat(`/sys/fs/cgroup/${slicePath(tenant.name)}`)).ino, null),
    fact(() => takesConnections(tenant.proxy)),
  ]);
  return { attestation, bootId, rulesetDigest, cgroup, proxyAnswers };
}

/** This boot's identity (proc_sys_kernel(5)). */
async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/**
 * SHA-256 of the live table's normalised listing; null where there is no table.
 * @throws Error where nft gave no answer
 */
async function liveRulesetDigest(local: Target): Promise<string | null> {
  const result = await local.exec({ command: ['nft', 'list', 'table', 'inet', TABLE], deadlineMs: DEADLINE_MS });
  if (result.outcome.kind !== 'exited') throw new Error(`nft gave no answer (${result.outcome.kind})`);
  const said = result.outcome.status === 0 ? result.stdout : result.stderr;
  const listing = readListing(String(result.outcome.status), said.toString('utf8'));
  switch (listing.kind) {
    case 'listed':
      return digestOf(listing.text);
    case 'absent':
      return null;
    case 'no-tool':
      throw new Error('nft is not installed');
    case 'error':
      throw new Error(listing.reason);
  }
}

/** A fact, with `absent` standing for a file or folder that does not exist. */
async function fact<T>(read: () => Promise<T>, absent?: T): Promise<Fact<T>> {
  try {
    return { known: true, value: await read() };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (absent !== undefined && code === 'ENOENT') return { known: true, value: absent };
    return { known: false, why: messageOf(error) };
  }
}

/** Whether a TCP connection to the proxy opens. @throws Error where that could not be told in time */
function takesConnections(proxy: { address: string; port: number }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: proxy.address, port: proxy.port });
    socket.setTimeout(DEADLINE_MS, () => {
      socket.destroy();
      reject(new Error(`${proxy.address}:${proxy.port} gave no answer within ${DEADLINE_MS / 1000} s`));
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(false);
      else reject(error);
    });
  });
}
