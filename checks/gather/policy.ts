import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { digestOf } from '../../core/digest.js';
import { isRecord, parseJson } from '../../core/json.js';
import { messageOf } from '../../core/message-of.js';
import { policyPath, proxyStatusPath } from '../../profiles/names.js';
import { renderPolicy } from '../../profiles/policy.js';
import type { TenantProfile } from '../../profiles/profile.js';
import type { PolicyState } from '../host-state.js';

/** How long a proxy that is started by its socket may take to say how it stands. */
const PATIENCE_MS = 4000;
const POLL_MS = 50;

interface Answer {
  readonly digest: string | null;
  readonly mode: string;
}

/**
 * Reads the policy three times: as the profile wants it, as the file holds it, as the running proxy says it has it.
 * Never throws.
 */
export async function readPolicy(tenant: TenantProfile): Promise<PolicyState> {
  const profile = digestOf(renderPolicy(tenant).content);
  try {
    const file = digestOf(await readFile(policyPath(tenant.name)));
    await wake(tenant.proxy);
    const { digest, mode } = await answerOf(proxyStatusPath(tenant.name));
    return { kind: 'read', profile, file, proxy: digest, mode };
  } catch (error) {
    return { kind: 'unknown', reason: `the policy in force could not be read: ${messageOf(error)}` };
  }
}

/** A connection starts the service behind its socket, if it is not running. */
function wake({ address, port }: TenantProfile['proxy']): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

async function answerOf(socketPath: string): Promise<Answer> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask(socketPath);
    } catch (error) {
      if (Date.now() >= end) throw error;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** The proxy's own word on its status socket (docs/schema/proxy-status-1.schema.json). */
function ask(socketPath: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/status', timeout: PATIENCE_MS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => {
        const value = parseJson(text);
        const { digest, mode } = isRecord(value) && isRecord(value.policy) ? value.policy : {};
        if ((typeof digest === 'string' || digest === null) && typeof mode === 'string') resolve({ digest, mode });
        else reject(new Error(`the proxy's status holds no policy (HTTP ${answer.statusCode})`));
      });
    });
    asked.once('timeout', () => asked.destroy(new Error('the status socket gave no answer')));
    asked.once('error', reject);
    asked.end();
  });
}
