import { Argument, Command, Option } from 'commander';
import { withExamples } from '../core/cli/program.js';
import type { Configuration } from '../core/configuration/configuration.js';
import { nearestOf } from '../core/configuration/nearest.js';
import { UsageFailure } from '../core/failure.js';
import type { FileKind } from '../profiles/excerpt.js';

interface RenderOptions {
  readonly host?: string;
  readonly config?: string;
  readonly only?: FileKind;
}

const KINDS: Readonly<Record<FileKind, true>> = {
  nft: true,
  units: true,
  policy: true,
  sudoers: true,
  command: true,
  profile: true,
};

/** `watertight render`: prints what provision would place on a host for a tenant. Touches nothing. */
export function renderCommand(): Command {
  const command = new Command('render')
    .description('print the files that a contained host holds for a tenant')
    .addArgument(new Argument('<tenant>', 'a tenant of the configuration'))
    .option('--host <name>', 'the host to render for (default: the first one that has the tenant)')
    .option('--config <file>', 'the configuration to read')
    .addOption(new Option('--only <kind>', 'one kind of file').choices(Object.keys(KINDS)))
    .action(async (tenant: string, options: RenderOptions) => {
      process.stdout.write(await render(tenant, options));
    });
  return withExamples(command, [
    { type: 'watertight render acme', does: 'every file, with packages, users and units' },
    {
      type: 'watertight render acme --only nft',
      does: 'the ruleset alone; on a provisioned host, ready for nft -c -f -',
    },
    { type: 'watertight render acme --host browser-02', does: 'as another host holds it' },
  ]);
}

async function render(tenant: string, options: RenderOptions): Promise<string> {
  const { loadConfiguration } = await import('../core/configuration/load.js');
  const { hostProfile } = await import('../profiles/host-profile.js');
  const { fileTexts, surroundings, tenantExcerpt } = await import('../profiles/excerpt.js');
  const configuration = await loadConfiguration(options.config);
  const host = options.host ?? firstHostOf(configuration, tenant);
  const profile = hostProfile(configuration, host);
  const names = profile.tenants.map(({ name }) => name);
  if (!names.includes(tenant)) throw unknownTenant(tenant, names, `host ${host}`);
  const excerpt = tenantExcerpt(profile, tenant, options.only);
  const files = fileTexts(excerpt);
  return options.only === undefined ? `# host      ${host}\n${surroundings(excerpt)}\n${files}` : files;
}

function firstHostOf(configuration: Configuration, tenant: string): string {
  if (!configuration.tenants.has(tenant)) {
    throw unknownTenant(tenant, [...configuration.tenants.keys()], configuration.path);
  }
  for (const host of configuration.hosts.values()) if (host.tenants.includes(tenant)) return host.name;
  throw new UsageFailure(
    `no host in ${configuration.path} has the tenant ${tenant}`,
    `add ${tenant} to a host's tenants`,
  );
}

function unknownTenant(tenant: string, known: readonly string[], where: string): UsageFailure {
  const { said, hint } = nearestOf(tenant, known);
  return new UsageFailure(`${where} has no tenant ${said}`, hint);
}
