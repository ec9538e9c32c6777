import { Command } from 'commander';
import { withExamples } from '../core/cli/program.js';

/** `watertight egress-proxy`: a tenant's proxy, started by its systemd unit. */
export function egressProxyCommand(): Command {
  const command = new Command('egress-proxy')
    .description("run a tenant's egress proxy on the socket that systemd passes in")
    .requiredOption('--policy <file>', "the tenant's policy")
    .option('--status <socket>', 'answer for metrics and status on this unix socket')
    .action(async ({ policy, status }: { policy: string; status?: string }) => {
      const { runEgressProxy } = await import('../host/egress-proxy/main.js');
      await runEgressProxy({ policyPath: policy, ...(status === undefined ? {} : { statusPath: status }) });
    });
  return withExamples(command, [
    {
      type: 'watertight egress-proxy --policy /etc/watertight/tenants/acme/policy.json',
      does: 'the proxy of tenant acme, as its unit starts it',
    },
  ]);
}
