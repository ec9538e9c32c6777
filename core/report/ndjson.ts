import type { VerifyEvent } from '../events.js';
import { printableJson } from '../printable.js';
import { addEvent, emptyRecord, exitOfRun, incompleteness } from './record.js';
import type { Output, Reporter } from './reporter.js';

/** One event a line, as it comes; a run that never said it finished ends with a failure and exit 2 in its place. */
export function ndjsonReporter({ write }: Output): Reporter {
  const record = emptyRecord();
  const say = (event: VerifyEvent): void => write(`${printableJson(event)}\n`);
  return {
    event(event): void {
      addEvent(record, event);
      say(event);
    },
    end(): void {
      if (record.finished !== null) return;
      say({ type: 'failure', kind: 'incomplete', reason: incompleteness(record) ?? '', fix: null });
      say({ type: 'finished', exit: exitOfRun(record), durationMs: 0 });
    },
  };
}
