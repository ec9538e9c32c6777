import { onCleanup } from '../../core/cli/cleanup.js';
import { coloursFor } from '../../core/cli/colours.js';
import type { Configuration } from '../../core/configuration/configuration.js';
import { loadConfiguration } from '../../core/configuration/load.js';
import { UsageFailure } from '../../core/failure.js';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { hostProfile } from '../../profiles/host-profile.js';
import { connectTo } from './connect.js';
import { type ControllerRun, provisionHost } from './controller-run.js';
import { deprovisionHost } from './deprovision-run.js';
import type { Emit } from './events.js';
import type { DeprovisionFlags, ProvisionFlags } from './flags.js';
import { hostBundle } from './host-bundle.js';
import { humanReport, ndjsonReport, type Streams } from './report.js';

/**
 * Provisions hosts one after the other.
 * @returns the worst answer: a no outweighs a could-not-tell
 */
export async function provisionHosts(names: readonly string[], flags: ProvisionFlags): Promise<ExitCode> {
  const bundle = await hostBundle();
  const dryRun = flags.dryRun === true;
  return overHosts('provision', names, flags, (common) => provisionHost({ ...common, bundle, dryRun }));
}

/** Takes everything from hosts again, one after the other. */
export async function deprovisionHosts(names: readonly string[], flags: DeprovisionFlags): Promise<ExitCode> {
  const options = { dryRun: flags.dryRun === true, keepPackages: flags.keepPackages === true };
  return overHosts('deprovision', names, flags, (common) => deprovisionHost({ ...common, ...options }));
}

type Flags = Pick<ProvisionFlags, 'all' | 'config' | 'dryRun' | 'diff' | 'format'>;
type Common = Pick<ControllerRun, 'profile' | 'connect' | 'emit' | 'signal'>;

/** Ctrl-C ends the work on the host in hand (a provision is taken back there), and all that would follow. */
async function overHosts(
  command: 'provision' | 'deprovision',
  names: readonly string[],
  flags: Flags,
  work: (common: Common) => Promise<ExitCode>,
): Promise<ExitCode> {
  const configuration = await loadConfiguration(flags.config);
  // All of them are looked up before the first is touched: a typing error ends the command, not half of it.
  const profiles = chosenHosts(command, names, flags.all === true, configuration).map((name) =>
    hostProfile(configuration, name),
  );
  const stop = new AbortController();
  const exits: ExitCode[] = [];
  const working = (async () => {
    for (const profile of profiles) {
      const entry = configuration.hosts.get(profile.host);
      if (entry === undefined || stop.signal.aborted) break;
      const connect = () => connectTo(entry);
      exits.push(await work({ profile, connect, emit: reportFor(flags), signal: stop.signal }));
    }
  })();
  const forget = onCleanup(async () => {
    stop.abort();
    await working.catch(() => {});
  });
  try {
    await working;
  } finally {
    forget();
  }
  return worst(exits);
}

function reportFor(flags: Flags): Emit {
  if (flags.format === 'ndjson') return ndjsonReport(streams());
  return humanReport(streams(), { dryRun: flags.dryRun === true, diff: flags.diff === true });
}

function chosenHosts(
  command: string,
  names: readonly string[],
  all: boolean,
  configuration: Configuration,
): readonly string[] {
  if (all && names.length > 0) throw new UsageFailure('name hosts, or say --all', `watertight ${command} --help`);
  const chosen = all ? [...configuration.hosts.keys()] : [...new Set(names)];
  if (chosen.length === 0) {
    const known = [...configuration.hosts.keys()].join(' ');
    throw new UsageFailure('which host? none was named', known === '' ? null : `watertight ${command} ${known}`);
  }
  return chosen;
}

function streams(): Streams {
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    outColours: coloursFor(process.stdout, process.env),
    errColours: coloursFor(process.stderr, process.env),
  };
}

function worst(exits: readonly ExitCode[]): ExitCode {
  return exits.find((exit) => exit === EXIT.no) ?? exits.find((exit) => exit !== EXIT.yes) ?? EXIT.yes;
}
