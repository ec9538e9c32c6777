import { Command, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import { nearestOf } from '../core/configuration/nearest.js';
import { UsageFailure } from '../core/failure.js';

const FORMATS = ['human', 'json'] as const;

interface DenialsFlags {
  readonly tenant: string;
  readonly since: string;
  readonly format: (typeof FORMATS)[number];
}

/** `watertight denials`: what a tenant's proxy on this host denied, for a person. */
export function denialsCommand(): Command {
  const command = new Command('denials')
    .description('what the proxy of a tenant denied: how often, and the entry that would allow it')
    .requiredOption('--tenant <name>', 'whose proxy')
    .option('--since <time>', 'from when on, as journalctl understands it', '24 hours ago')
    .addOption(new Option('--format <format>', 'how to print it').choices(FORMATS).default('human'))
    .action(async (flags: DenialsFlags) => {
      process.stdout.write(await denials(flags));
    });
  return withExamples(command, [
    { type: 'sudo watertight denials --tenant acme', does: 'the last 24 hours' },
    { type: 'sudo watertight denials --tenant acme --since "10 min ago"', does: 'while work is being tried out' },
    { type: 'sudo watertight denials --tenant acme --format json', does: 'for a program' },
  ]);
}

async function denials({ tenant, since, format }: DenialsFlags): Promise<string> {
  if (process.getuid?.() !== 0) {
    throw new UsageFailure('denials needs root: it reads the journal', `sudo watertight denials --tenant ${tenant}`);
  }
  const { installedProfile } = await import('../host/installed-profile.js');
  const { denialTally } = await import('../host/denials/tally.js');
  const { readJournal } = await import('../host/denials/read-journal.js');
  const { localTarget } = await import('../core/target/local.js');
  const { proxyServiceUnit } = await import('../profiles/names.js');
  const { denialsJson, denialsText } = await import('./denials/show.js');
  const names = (await installedProfile()).tenants.map(({ name }) => name);
  if (!names.includes(tenant)) {
    const near = nearestOf(tenant, names);
    throw new UsageFailure(`this host has no tenant ${near.said}`, near.hint);
  }
  const tally = denialTally();
  await readJournal(localTarget(), proxyServiceUnit(tenant), since, tally.add);
  const found = { tenant, since, denials: tally.denials(), others: tally.others() };
  return format === 'json' ? denialsJson(found) : denialsText(found);
}
