import { EXIT, type ExitCode, exitOf } from '../../core/outcome.js';
import { describeOutcome, fixOf } from '../../core/target/describe.js';
import { succeeded, type Target } from '../../core/target/target.js';
import { version } from '../../core/version.js';
import { probe } from '../../probes/probe.js';
import { renderHost } from '../../profiles/host.js';
import { PATHS } from '../../profiles/names.js';
import type { HostProfile } from '../../profiles/profile.js';
import { QUICK_MS } from '../../profiles/resources/change.js';
import { type HostFacts, needed } from '../../profiles/resources/facts.js';
import { factsQuery } from '../../profiles/resources/gather.js';
import { comparePackages } from '../../profiles/resources/package.js';
import { planProvision } from '../../profiles/resources/plan.js';
import { describeResult } from './describe-result.js';
import { type Emit, planned } from './events.js';
import { gatherFacts } from './gather-facts.js';
import type { HostBundle } from './host-bundle.js';
import { perform } from './perform.js';
import { runRemotely } from './remote-run.js';
import { STAGED_BUNDLE, STAGING } from './staging.js';

const UPLOAD_MS = 120_000;

export interface ControllerRun {
  readonly profile: HostProfile;
  readonly bundle: HostBundle;
  readonly connect: () => Target;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
}

/** Why a run ends before the host has begun its part. */
interface Stop {
  readonly exit: ExitCode;
  readonly kind: string;
  readonly reason: string;
  readonly fix: string | null;
}

/** Provisions one host, or plans to. Never throws for what a host does. */
export async function provisionHost(run: ControllerRun): Promise<ExitCode> {
  const { profile, emit } = run;
  const tenants = profile.tenants.map(({ name }) => name);
  const at = new Date();
  emit({
    type: 'started',
    schema: 'watertight/provision/1',
    host: profile.host,
    tenants,
    at: at.toISOString(),
    version,
  });
  const target = run.connect();
  try {
    const answer = run.dryRun ? await planOnly(run, target) : await converge(run, target);
    if (typeof answer === 'number') return answer;
    const { exit, kind, reason, fix } = answer;
    emit({ type: 'failure', kind, reason, fix });
    emit({ type: 'finished', exit, result: 'untouched', changes: 0, durationMs: Date.now() - at.getTime() });
    return exit;
  } finally {
    await target.close();
  }
}

/** Not a lack: provision waits until apt's lock is free. */
const WAITED_FOR = 'apt-lock';

/** What a host must be before anything can be put on it; answered in the same words as verify's. */
async function lacks({ emit, bundle }: ControllerRun, target: Target): Promise<Stop | null> {
  const report = await probe(target, { phase: 'provision', bundleDigest: bundle.sha256, version });
  if (report.kind === 'not-asked') {
    const { outcome } = report;
    return { exit: EXIT.couldNotTell, kind: outcome.kind, reason: describeOutcome(outcome), fix: fixOf(outcome) };
  }
  for (const result of report.results) emit({ type: 'prerequisite', ...result });
  const wanting = report.results.filter(({ id, presence }) => presence !== 'present' && id !== WAITED_FOR);
  if (wanting.length === 0) return null;
  const reason = `the host is not fit for it: ${wanting.map(({ id }) => id).join(', ')}`;
  return { exit: exitOf(wanting.map(({ presence }) => presence)), kind: 'prerequisite', reason, fix: null };
}

async function readHost(run: ControllerRun, target: Target): Promise<HostFacts | Stop> {
  const lack = await lacks(run, target);
  if (lack !== null) return lack;
  run.emit({ type: 'progress', text: 'reading how the host stands' });
  const gathered = await gatherFacts(target, factsQuery(renderHost(run.profile)));
  if (gathered.kind === 'facts') return gathered.facts;
  return { exit: EXIT.couldNotTell, kind: gathered.cause, reason: gathered.reason, fix: gathered.fix };
}

async function planOnly(run: ControllerRun, target: Target): Promise<ExitCode | Stop> {
  const startedAt = Date.now();
  const facts = await readHost(run, target);
  if ('exit' in facts) return facts;
  const plan = planProvision(renderHost(run.profile), { sha256: run.bundle.sha256, staged: STAGED_BUNDLE }, facts);
  if (plan.kind === 'conflict') return conflict(plan.reasons);
  const changes = plan.changes.map(planned);
  run.emit({ type: 'plan', changes });
  const durationMs = Date.now() - startedAt;
  run.emit({ type: 'finished', exit: EXIT.yes, result: 'planned', changes: changes.length, durationMs });
  return EXIT.yes;
}

async function converge(run: ControllerRun, target: Target): Promise<ExitCode | Stop> {
  const facts = await readHost(run, target);
  if ('exit' in facts) return facts;
  const plan = planProvision(renderHost(run.profile), { sha256: run.bundle.sha256, staged: STAGED_BUNDLE }, facts);
  if (plan.kind === 'conflict') return conflict(plan.reasons);
  const installed = await installInterpreter(run, target, facts);
  if (typeof installed !== 'number') return installed;
  const program = await bringBundle(run, target, facts);
  if (typeof program !== 'string') return program;
  if (run.signal.aborted) return ended();
  return runRemotely({ ...run, target, connectAfresh: run.connect, program, changesBefore: installed });
}

/** The rest is done by the program on the host, which needs Node to run. One apt run brings all packages then. @returns how many changes it took */
async function installInterpreter(run: ControllerRun, target: Target, facts: HostFacts): Promise<number | Stop> {
  if (facts.packages.has('nodejs')) return 0;
  const change = comparePackages(facts.packages, renderHost(run.profile).packages);
  if (change === null) return 0;
  run.emit({ type: 'step', id: change.id, summary: change.summary, state: 'started', detail: '' });
  for (const operation of change.operations) {
    const failure = await perform(target, operation, (text) => run.emit({ type: 'progress', text }));
    if (failure === null) continue;
    run.emit({ type: 'step', id: change.id, summary: change.summary, state: 'failed', detail: failure });
    return { exit: EXIT.no, kind: 'packages', reason: `${change.summary}: ${failure}`, fix: null };
  }
  run.emit({ type: 'step', id: change.id, summary: change.summary, state: 'done', detail: '' });
  return 1;
}

/** @returns the path of our bundle on the host: the installed one, or one that waits to be installed */
async function bringBundle(run: ControllerRun, target: Target, facts: HostFacts): Promise<string | Stop> {
  const { bundle, emit } = run;
  const installed = needed(facts.files, PATHS.bundle);
  if (installed.kind === 'file' && installed.sha256 === bundle.sha256) return PATHS.bundle;
  emit({ type: 'progress', text: `uploading the program (${Math.ceil(bundle.content.length / 1024)} KiB)` });
  const staging = ['install', '-d', '-m', '0755', '-o', 'root', '-g', 'root', '--', PATHS.state, STAGING] as const;
  const made = await target.exec({ command: staging, become: true, deadlineMs: QUICK_MS });
  if (!succeeded(made)) return notUploaded(describeResult(made));
  const file = { path: STAGED_BUNDLE, content: bundle.content, mode: 0o644, become: true, deadlineMs: UPLOAD_MS };
  const uploaded = await target.upload(file);
  return succeeded(uploaded) ? STAGED_BUNDLE : notUploaded(describeResult(uploaded));
}

function notUploaded(reason: string): Stop {
  return {
    exit: EXIT.couldNotTell,
    kind: 'upload',
    reason: `the program did not reach the host: ${reason}`,
    fix: null,
  };
}

function conflict(reasons: readonly string[]): Stop {
  return { exit: EXIT.no, kind: 'conflict', reason: reasons.join('; '), fix: null };
}

function ended(): Stop {
  return { exit: EXIT.couldNotTell, kind: 'cancelled', reason: 'the run was ended', fix: null };
}
