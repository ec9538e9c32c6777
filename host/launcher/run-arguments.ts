import { TENANT_NAME } from '../../profiles/names.js';

/** What `watertight run` is asked for. */
export interface RunArguments {
  readonly tenant: string;
  readonly command: readonly [string, ...string[]];
}

/**
 * Reads the arguments of `run` in the one form that sudoers permits: --tenant NAME -- COMMAND…, each at its place. sudo
 * joins arguments by spaces before it matches a pattern (sudoers(5), "Wildcards in command arguments"), so to it
 * `--tenant "acme -- x" --tenant other` begins like `--tenant acme -- *`: whoever reads options anywhere, or takes the
 * last of two, can be led past the rule.
 * @param argv everything after `run`
 * @returns null where they are not of that form
 */
export function readRunArguments(argv: readonly string[]): RunArguments | null {
  const [option, tenant, separator, program, ...rest] = argv;
  if (option !== '--tenant' || tenant === undefined || !TENANT_NAME.test(tenant)) return null;
  if (separator !== '--' || program === undefined) return null;
  return { tenant, command: [program, ...rest] };
}
