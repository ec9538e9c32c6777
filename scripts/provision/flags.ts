/** What the command line of provision says. */
export interface ProvisionFlags {
  readonly all?: boolean;
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly format: 'human' | 'ndjson';
}

/** What the command line of deprovision says. */
export interface DeprovisionFlags {
  readonly all?: boolean;
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly keepPackages?: boolean;
  readonly format: 'human' | 'ndjson';
}

/** For the help of both commands: which stream says what. */
export const WHERE_IT_GOES = `
What happens meanwhile goes to standard error. The result goes to standard output: the plan with
--dry-run or --diff, and the last sentence. With --format ndjson all of it goes to standard output, one event a line.`;
