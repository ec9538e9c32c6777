import { printable, printableJson } from '../../core/printable.js';
import { layTable } from '../../core/report/table.js';
import type { Remedy } from '../../host/denials/remedy.js';
import type { Denial } from '../../host/denials/tally.js';

/** What was found in the journal. */
export interface FoundDenials {
  readonly tenant: string;
  readonly since: string;
  readonly denials: readonly Denial[];
  readonly others: number;
}

/** More rows than these are no reading for a person. */
const MAX_ROWS = 50;

/** One JSON document. */
export function denialsJson({ tenant, since, denials, others }: FoundDenials): string {
  return `${printableJson({ schema: 'watertight/denials/1', tenant, since, denials, others })}\n`;
}

/** A table, the most frequent first, and what to do with it. */
export function denialsText({ tenant, since, denials, others }: FoundDenials): string {
  const title = `tenant ${tenant}, since ${printable(since)}`;
  if (denials.length === 0) return `Nothing was denied (${title}).\n`;
  const rows = denials
    .slice(0, MAX_ROWS)
    .map(({ times, last, host, port, reason, denied, remedy }) => [
      times,
      printable(last),
      printable(port === 0 ? host || '(unreadable)' : `${host.includes(':') ? `[${host}]` : host}:${port}`),
      denied ? reason : `${reason} (let through)`,
      wayOut(remedy),
    ]);
  const more = denials.slice(MAX_ROWS).reduce((sum, { times }) => sum + times, others);
  const lines = [
    `What the proxy denied (${title}):`,
    '',
    ...layTable(['times', 'last', 'target', 'reason', 'entry that allows it'], rows),
    ...(more > 0 ? ['', `and ${more} more denials of other targets (--format json)`] : []),
    ...(denials.some(({ remedy }) => remedy.kind === 'entry')
      ? [
          '',
          `To allow one, put its entry under tenants.${tenant}.allow in the configuration, then: watertight provision HOST`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

function wayOut(remedy: Remedy): string {
  return printable(remedy.kind === 'entry' ? remedy.entry : `- (${remedy.why})`);
}
