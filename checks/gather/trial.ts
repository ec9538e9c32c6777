import { proxyServiceUnit } from '../../profiles/names.js';
import { type Arrivals, arrivalsOf, controlArrivalsOf } from '../arrivals.js';
import type { Attempt, Observation } from '../attempt.js';
import type { AttemptClaim, Observed } from '../claim.js';
import type { Scene } from '../scene.js';
import type { Stage } from '../stage.js';
import type { ChildSession } from './child-session.js';
import { type Counters, countersMoved, readCounters } from './counters.js';
import { readProxyLog } from './proxy-log.js';

/** How long the journal may take to hold the proxy's lines. */
const LOG_WAIT_MS = 2000;
/** The journal's clock may be read a moment before ours; nonces tell lines apart anyway. */
const CLOCK_SLACK_MS = 100;

/** What came of a claim's control. */
interface Control {
  readonly observations: readonly Observation[];
  readonly attempts: number;
  readonly arrivals: number;
}

/** Tries one claim after another for a tenant, the control of all of them first. */
export class Trial {
  private counters: Counters;
  private seen = { far: 0, echoes: 0, near: 0 };

  private constructor(
    private readonly stage: Stage,
    private readonly scene: Scene,
    private readonly child: ChildSession,
    private readonly controls: ReadonlyMap<string, Control>,
    first: Counters,
  ) {
    this.counters = first;
  }

  static async begin(
    stage: Stage,
    scene: Scene,
    children: { readonly confined: ChildSession; readonly control: ChildSession },
    claims: readonly AttemptClaim[],
  ): Promise<Trial> {
    const controls = await runControls(stage, scene, children.control, claims);
    const trial = new Trial(stage, scene, children.confined, controls, await readCounters(stage.local));
    await trial.arrivals();
    return trial;
  }

  /** Makes a claim's attempts, confined, and gathers everything that was seen of them. */
  async try(claim: AttemptClaim): Promise<Observed> {
    const { stage, scene, child } = this;
    const attempts = claim.attempts(scene);
    const since = Date.now() - CLOCK_SLACK_MS;
    const confined = await child.run(attempts, dialBack(stage, attempts));
    const before = this.counters;
    // An nft that hung once would cost each further claim its deadline, and make none of them tell.
    if (before.kind !== 'unknown') this.counters = await readCounters(stage.local);
    const came = await this.arrivals();
    const control = this.controls.get(claim.id);
    return {
      attempts,
      confined,
      childProblem: child.problem,
      counters: countersMoved(before, this.counters, scene.tenant.name),
      arrivals: claim.counter === 'inbound' ? accepted(confined) : arrivalsOf(attempts, came),
      control: control?.observations ?? [],
      controlAttempts: control?.attempts ?? 0,
      controlArrivals: control?.arrivals ?? 0,
      proxyLines: claim.counter === 'proxy' ? await this.linesFor(attempts, since) : null,
    };
  }

  /** How far each counter moved from the first reading to the last. */
  movedSince(first: Counters) {
    return countersMoved(first, this.counters, this.scene.tenant.name);
  }

  get reading(): Counters {
    return this.counters;
  }

  private linesFor(attempts: readonly Attempt[], since: number) {
    return readProxyLog(this.stage.local, {
      unit: proxyServiceUnit(this.scene.tenant.name),
      nonces: attempts.map(({ nonce }) => nonce),
      expected: attempts.length,
      since,
      waitMs: LOG_WAIT_MS,
    });
  }

  /** What arrived since this was last asked. */
  private async arrivals(): Promise<Arrivals> {
    const far = (await this.stage.far.report()) ?? { arrivals: [], echoes: [] };
    const near = this.stage.near.arrivals;
    const fresh: Arrivals = {
      far: { arrivals: far.arrivals.slice(this.seen.far), echoes: far.echoes.slice(this.seen.echoes) },
      near: near.slice(this.seen.near),
    };
    this.seen = { far: far.arrivals.length, echoes: far.echoes.length, near: near.length };
    return fresh;
  }
}

/** Runs every claim's control in one group: they do not count anywhere, so they need no order. */
async function runControls(
  stage: Stage,
  scene: Scene,
  child: ChildSession,
  claims: readonly AttemptClaim[],
): Promise<ReadonlyMap<string, Control>> {
  const parts = claims.map((claim) => ({ claim, attempts: claim.control(claim.attempts(scene), scene) }));
  const all = parts.flatMap(({ attempts }) => attempts);
  const observations = await child.run(all, dialBack(stage, all));
  const far = (await stage.far.report()) ?? { arrivals: [], echoes: [] };
  const came: Arrivals = { far, near: stage.near.arrivals };
  return new Map(
    parts.map(({ claim, attempts }) => {
      const ids = new Set(attempts.map(({ id }) => id));
      const own = observations.filter(({ id }) => ids.has(id));
      const arrivals = claim.counter === 'inbound' ? accepted(own) : controlArrivalsOf(attempts, came);
      return [claim.id, { observations: own, attempts: attempts.length, arrivals }] as const;
    }),
  );
}

/** Lets the far sink dial in as soon as a child listens. */
function dialBack(stage: Stage, attempts: readonly Attempt[]) {
  return (id: string, port: number): void => {
    const attempt = attempts.find((one) => one.id === id);
    if (!attempt) return;
    const { family, address, nonce } = attempt;
    void stage.far.dial([{ id, family, address, port, nonce, deadline: 300 }]);
  };
}

function accepted(observations: readonly Observation[]): number {
  return observations.reduce((sum, { detail }) => sum + (typeof detail.accepted === 'number' ? detail.accepted : 0), 0);
}
