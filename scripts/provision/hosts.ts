import { onCleanup } from '../../core/cli/cleanup.js';
import { coloursFor } from '../../core/cli/colours.js';
import type { Configuration } from '../../core/configuration/configuration.js';
import { loadConfiguration } from '../../core/configuration/load.js';
import { UsageFailure } from '../../core/failure.js';
import { EXIT, type ExitCode } from '../../core/outcome.js';
import { hostProfile } from '../../profiles/host-profile.js';
import type { ProvisionFlags } from '../provision.js';
import { connectTo } from './connect.js';
import { provisionHost } from './controller-run.js';
import { hostBundle } from './host-bundle.js';
import { humanReport, ndjsonReport, type Streams } from './report.js';

/**
 * Provisions hosts one after the other; Ctrl-C ends the one in hand (the host takes everything back) and all that follow.
 * @returns the worst answer: a no outweighs a could-not-tell
 */
export async function provisionHosts(names: readonly string[], flags: ProvisionFlags): Promise<ExitCode> {
  const configuration = await loadConfiguration(flags.config);
  const chosen = chosenHosts(names, flags.all === true, configuration);
  // All of them are looked up before the first is touched: a typing error ends the command, not half of it.
  const profiles = chosen.map((name) => hostProfile(configuration, name));
  const bundle = await hostBundle();
  const stop = new AbortController();
  const dryRun = flags.dryRun === true;
  const exits: ExitCode[] = [];
  const work = (async () => {
    for (const profile of profiles) {
      const entry = configuration.hosts.get(profile.host);
      if (entry === undefined || stop.signal.aborted) break;
      const emit =
        flags.format === 'ndjson'
          ? ndjsonReport(streams())
          : humanReport(streams(), { dryRun, diff: flags.diff === true });
      const connect = () => connectTo(entry);
      exits.push(await provisionHost({ profile, bundle, connect, emit, signal: stop.signal, dryRun }));
    }
  })();
  const forget = onCleanup(async () => {
    stop.abort();
    await work.catch(() => {});
  });
  try {
    await work;
  } finally {
    forget();
  }
  return worst(exits);
}

function chosenHosts(names: readonly string[], all: boolean, configuration: Configuration): readonly string[] {
  if (all && names.length > 0) throw new UsageFailure('name hosts, or say --all', 'watertight provision --help');
  const chosen = all ? [...configuration.hosts.keys()] : [...new Set(names)];
  if (chosen.length === 0) {
    const known = [...configuration.hosts.keys()].join(' ');
    throw new UsageFailure('which host? none was named', known === '' ? null : `watertight provision ${known}`);
  }
  return chosen;
}

function streams(): Streams {
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    colours: coloursFor(process.stderr, process.env),
  };
}

function worst(exits: readonly ExitCode[]): ExitCode {
  return exits.find((exit) => exit === EXIT.no) ?? exits.find((exit) => exit !== EXIT.yes) ?? EXIT.yes;
}
