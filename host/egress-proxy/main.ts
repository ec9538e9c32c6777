import { UsageFailure } from '../../core/failure.js';
import { messageOf } from '../../core/message-of.js';
import { inheritedDescriptors } from './inherited.js';
import { DEFAULT_LIMITS } from './limits.js';
import { type LineSink, lineSink } from './line-sink.js';
import { type PolicySource, policySource } from './policy-source.js';
import { createProxy, type EgressProxy } from './server.js';
import { type ProxyStatus, proxyStatus } from './status.js';
import { serveStatus } from './status-server.js';

export interface EgressProxyOptions {
  readonly policyPath: string;
  /** Where to listen when no socket was passed by the service manager. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** What is still open this long after SIGTERM is cut off, in ms. */
  readonly drainMs?: number;
  /** Unix socket for metrics and status. */
  readonly statusPath?: string;
}

const FLUSH_MS = 1000;

/**
 * Runs the proxy of one tenant until SIGTERM or SIGINT, then drains. SIGHUP reads the policy again. Decision lines go
 * to stdout, what people should know to stderr.
 *
 * Throws UsageFailure without a socket, ConfigurationFailure for an invalid policy. Without a policy it denies everything.
 */
export async function runEgressProxy(options: EgressProxyOptions): Promise<void> {
  const lines = lineSink(1, DEFAULT_LIMITS.logBytes);
  const notes = lineSink(2, DEFAULT_LIMITS.logBytes);
  const note = (text: string): void => notes.write(`egress-proxy: ${text}`);
  const source = policySource(options.policyPath);
  const limits = options.drainMs === undefined ? {} : { drainMs: options.drainMs };
  const proxy = createProxy({ policy: source.first, writeLine: lines.write, limits });
  for (const where of placesToListen(options)) {
    const { host, port } = await proxy.listen(where);
    note(`listening on ${host} port ${port} for tenant ${JSON.stringify(source.first.tenant)}`);
  }
  for (const warning of source.first.warnings) note(`WARNING: ${warning}`);
  process.on('SIGHUP', () => reload(proxy, source, note));
  const stopped = untilAskedToStop(proxy);
  const closeStatus = await openStatus(options, () => statusNow(proxy, source, lines), note);
  await stopped;
  closeStatus();
  await finish(lines, notes, note);
}

/** A policy that cannot be read or is invalid is refused, and the one in force stays. */
function reload(proxy: EgressProxy, source: PolicySource, note: (text: string) => void): void {
  const result = source.reload();
  if (!result.ok) {
    note(`ERROR: policy refused, the one before stays: ${result.why}`);
    return;
  }
  proxy.setPolicy(result.policy);
  note(`policy read again for tenant ${JSON.stringify(result.policy.tenant)}`);
  for (const warning of result.policy.warnings) note(`WARNING: ${warning}`);
}

const started = new Date();

function statusNow(proxy: EgressProxy, source: PolicySource, lines: LineSink): ProxyStatus {
  return proxyStatus({
    policy: proxy.policy(),
    state: source.state(),
    figures: proxy.figures(),
    connections: proxy.open(),
    linesLost: lines.lost(),
    started,
  });
}

/** Being watched is not what the proxy is for: it runs without. */
async function openStatus(
  { statusPath }: EgressProxyOptions,
  status: () => ProxyStatus,
  note: (text: string) => void,
): Promise<() => void> {
  if (statusPath === undefined) return () => {};
  try {
    return await serveStatus(statusPath, status);
  } catch (error) {
    note(`WARNING: no metrics and no status: ${messageOf(error)}`);
    return () => {};
  }
}

function placesToListen(options: EgressProxyOptions): ({ fd: number } | { host: string; port: number })[] {
  const inherited = inheritedDescriptors(process.env, process.pid).map((fd) => ({ fd }));
  if (inherited.length > 0) return inherited;
  if (options.listen !== undefined) return [options.listen];
  throw new UsageFailure('no listening socket was passed', 'start it through its socket unit');
}

/** Drains at the first signal; a second one cuts everything off. */
function untilAskedToStop(proxy: EgressProxy): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (): void => {
      if (asked) {
        proxy.cut();
        return;
      }
      asked = true;
      void proxy.drain().then(resolve);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

async function finish(lines: LineSink, notes: LineSink, note: (text: string) => void): Promise<void> {
  await lines.flush(FLUSH_MS);
  if (lines.lost() > 0) note(`WARNING: ${lines.lost()} decision lines were lost`);
  await notes.flush(FLUSH_MS);
}
