import { Failure, UsageFailure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';
import { printable } from '../../core/printable.js';
import type { Target } from '../../core/target/target.js';

const DEADLINE_MS = 300_000;
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Reads what a unit said since a time, line by line.
 *
 * @param since a time in the words of systemd.time(7), for example `1 hour ago`
 * @throws UsageFailure where the time cannot be read, Failure (exit 2) where the journal cannot
 */
export async function readJournal(
  local: Target,
  unit: string,
  since: string,
  onLine: (line: string) => void,
): Promise<void> {
  const { outcome, stderr } = await local.exec({
    command: ['journalctl', '--quiet', '--no-pager', '--output=cat', `--since=${since}`, `--unit=${unit}`],
    environment: { LC_ALL: 'C' },
    deadlineMs: DEADLINE_MS,
    maxBytes: MAX_BYTES,
    onLine,
  });
  if (outcome.kind === 'exited' && outcome.status === 0) return;
  const said = printable(stderr.toString('utf8').trim());
  if (outcome.kind === 'exited' && said.startsWith('Failed to parse timestamp')) {
    throw new UsageFailure(`journalctl does not know the time ${JSON.stringify(since)}`, '--since "1 hour ago"');
  }
  if (outcome.kind === 'output-limit' || outcome.kind === 'timed-out') {
    throw new Failure('the journal holds too much since then', EXIT.couldNotTell, 'a later --since');
  }
  throw new Failure(`cannot read the journal: ${said || outcome.kind}`, EXIT.couldNotTell, 'run it as root');
}
