import { createTwoFilesPatch } from 'diff';
import { printableLines } from '../../core/printable.js';

/** A unified diff that is safe to show: what could steer a terminal stands as an escape. Null where nothing differs. */
export function unifiedDiff(path: string, before: Buffer | null, after: Buffer | null): string | null {
  if (before !== null && after !== null && before.equals(after)) return null;
  const from = before === null ? '/dev/null' : path;
  const to = after === null ? '/dev/null' : path;
  const patch = createTwoFilesPatch(from, to, text(before), text(after), undefined, undefined, { context: 3 });
  // The library begins with an index and a rule, which diff(1) does not print.
  return patch.slice(patch.indexOf('--- ')).split('\t').map(printableLines).join('\t');
}

function text(content: Buffer | null): string {
  return content === null ? '' : content.toString('utf8');
}
