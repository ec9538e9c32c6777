import { performance } from 'node:perf_hooks';
import type { PrerequisiteResult, VerifyEvent } from '../core/events.js';
import { EXIT } from '../core/outcome.js';
import { addEvent, emptyRecord, exitOfAnswers, type RunRecord } from '../core/report/record.js';
import { describeOutcome, fixOf } from '../core/target/describe.js';
import type { Target } from '../core/target/target.js';
import { version } from '../core/version.js';
import { CHANGED } from '../probes/installation-questions.js';
import { PREREQUISITES } from '../probes/prerequisites.js';
import { PROBE_DEADLINE_MS, probe } from '../probes/probe.js';
import { runOnHost } from './remote-stream.js';

export interface VerifyRemoteOptions {
  readonly target: Target;
  /** Tenants that the configuration gives this host: each has to be proven. */
  readonly tenants: readonly string[];
  /** Only this one of them; absent: all of them. */
  readonly tenant?: string;
  /** SHA-256 of the profile that the configuration gives this host (profiles/profile-digest.ts). */
  readonly profileDigest: string;
  /** SHA-256 of the program that this controller would install there. */
  readonly bundleDigest: string;
  /** Milliseconds for the whole run: the prerequisites and the host's own proof. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

type Emit = (event: VerifyEvent) => void;

/**
 * Verifies a host from its controller: asks for the prerequisites, and where they hold lets the host's own program
 * prove its containment and passes on what it says. Never throws for what a host does; the last event is `finished`.
 */
export async function verifyRemote(options: VerifyRemoteOptions, emit: Emit): Promise<void> {
  const startedAt = performance.now();
  const record = emptyRecord();
  const say: Emit = (event) => {
    addEvent(record, event);
    emit(event);
  };
  const tenants = options.tenant === undefined ? options.tenants : [options.tenant];
  const at = new Date().toISOString();
  say({ type: 'started', schema: 'watertight/verify/1', host: options.target.name, tenants, at, version });
  if (await mayStart(options, say)) {
    const left = Math.max(1, options.deadlineMs - (performance.now() - startedAt));
    const { exit, profileDigest } = await runOnHost({ ...options, deadlineMs: left }, say);
    if (exit !== null) sayProfile(options, profileDigest, say);
    sayUnproven(tenants, record, say);
    sayDoubted(exit, record, say);
  }
  const durationMs = Math.round(performance.now() - startedAt);
  say({ type: 'finished', exit: exitOfAnswers(record), durationMs });
}

/** Asks for the prerequisites. @returns whether the host can be trusted to prove anything */
async function mayStart(options: VerifyRemoteOptions, say: Emit): Promise<boolean> {
  const { target, bundleDigest, signal } = options;
  say({ type: 'progress', text: `asking ${target.name} for what containment needs` });
  const report = await probe(target, {
    phase: 'verify',
    bundleDigest,
    version,
    deadlineMs: Math.min(options.deadlineMs, PROBE_DEADLINE_MS),
    ...(signal === undefined ? {} : { signal }),
  });
  if (report.kind === 'not-asked') {
    const { outcome } = report;
    say({ type: 'failure', kind: outcome.kind, reason: describeOutcome(outcome), fix: fixOf(outcome) });
    return false;
  }
  for (const result of report.results) say({ type: 'prerequisite', ...result });
  sayChanged(report.results, say);
  return !report.results.some(keepsFromStarting);
}

const PROVEN_BY_CLAIMS = new Set(PREREQUISITES.filter((question) => question.provenByClaims).map(({ id }) => id));

/** What is absent keeps the run from starting, unless a claim will name its effect. What is unknown always does. */
function keepsFromStarting({ id, presence }: PrerequisiteResult): boolean {
  return presence === 'error' || (presence === 'absent' && !PROVEN_BY_CLAIMS.has(id));
}

/** A program that was changed on the host is not merely absent: nothing that it says of the host can be believed. */
function sayChanged(results: readonly PrerequisiteResult[], say: Emit): void {
  const bundle = results.find(({ id, found }) => id === 'bundle' && found === CHANGED);
  if (bundle === undefined) return;
  say({
    type: 'claim',
    id: 'installed-program',
    tenant: '*',
    claim: 'the program on the host is the one that this controller installs',
    layer: 'identity',
    verdict: 'disproved',
    reason: bundle.reason,
    evidence: {},
    hint: bundle.fix,
  });
}

/** Everything that a host proves it proves of its own profile: another one than the configuration's is another promise. */
function sayProfile({ target, profileDigest }: VerifyRemoteOptions, installed: string | null, say: Emit): void {
  const agrees = installed === profileDigest;
  const disagreement =
    installed === null
      ? ({ verdict: 'inconclusive', reason: 'the host did not say which profile it was made from' } as const)
      : ({
          verdict: 'disproved',
          reason: 'the configuration was changed since the host was provisioned, or it is another one',
        } as const);
  say({
    type: 'claim',
    id: 'installed-profile',
    tenant: '*',
    claim: 'the profile that the host was made from is the one of this configuration',
    layer: 'identity',
    ...(agrees ? { verdict: 'proven', reason: 'the same tenants, allowlists, runtimes and addresses' } : disagreement),
    evidence: {},
    hint: agrees ? null : `watertight provision ${target.name}`,
  });
}

/** The host's own conclusion counts where it is the worse one. */
function sayDoubted(exit: number | null, record: RunRecord, say: Emit): void {
  if (exitOfAnswers(record) !== EXIT.yes || exit === EXIT.yes) return;
  const reason = `every claim came back proven, and the host ended with ${exit ?? 'nothing'}`;
  say({ type: 'failure', kind: 'protocol', reason, fix: null });
}

/** A tenant that the host's profile does not know would otherwise go unnoticed. */
function sayUnproven(tenants: readonly string[], record: RunRecord, say: Emit): void {
  if (record.failures.length > 0) return;
  const judged = new Set(record.claims.map(({ tenant }) => tenant));
  for (const tenant of tenants.filter((name) => !judged.has(name))) {
    const fix = `watertight provision ${record.started?.host ?? ''}`;
    const reason = `the host judged no claim of tenant ${tenant}: its profile may not know it`;
    say({ type: 'failure', kind: 'tenant-not-judged', reason, fix });
  }
}
