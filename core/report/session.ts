import type { VerifyEvent } from '../events.js';
import type { ExitCode } from '../outcome.js';
import type { Format } from './format-names.js';
import { FORMATS } from './formats.js';
import { standardOutput } from './output.js';
import { addEvent, emptyRecord, exitOfRun } from './record.js';
import type { Output } from './reporter.js';

/** A run on its way to the reader. */
export interface ReportSession {
  readonly emit: (event: VerifyEvent) => void;
  /** Ends the report. @returns the exit code that the whole run amounts to */
  readonly close: () => ExitCode;
}

/** Renders a run in a format, and keeps the answers from which the exit code follows. */
export function openReport(format: Format, output: Output = standardOutput()): ReportSession {
  const record = emptyRecord();
  const reporter = FORMATS[format](output);
  return {
    emit(event): void {
      addEvent(record, event);
      reporter.event(event);
    },
    close(): ExitCode {
      reporter.end();
      return exitOfRun(record);
    },
  };
}
