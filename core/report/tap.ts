import { printable, printableJson } from '../printable.js';
import { closingPoint, pointCollector, type TestPoint } from './points.js';
import type { Output, Reporter } from './reporter.js';
import { summarize } from './summary.js';

/** TAP 14: a hash would begin a directive, a backslash an escape. */
function description(text: string): string {
  return printable(text).replace(/[\\#]/g, '\\$&');
}

/** The YAML block below a point that is not ok. JSON values are YAML 1.2. */
function diagnostics(point: TestPoint): string {
  const lines = [
    ...(point.answer === 'could not tell' ? ['# could not tell'] : []),
    `verdict: ${printableJson(point.word)}`,
    `reason: ${printableJson(point.reason)}`,
    ...(point.fix === null ? [] : [`fix: ${printableJson(point.fix)}`]),
    `details: ${printableJson(point.details)}`,
  ];
  return ['---', ...lines, '...'].map((line) => `  ${line}\n`).join('');
}

function line(point: TestPoint, number: number): string {
  const name = description(`${point.suite}: ${point.name}`);
  // Never a skip: some readers count those as passed.
  return point.answer === 'yes' ? `ok ${number} - ${name}\n` : `not ok ${number} - ${name}\n${diagnostics(point)}`;
}

/** TAP version 14 (testanything.org), a point as soon as it is known. */
export function tapReporter({ write }: Output): Reporter {
  const { record, points, add } = pointCollector();
  write('TAP version 14\n');
  return {
    event(event): void {
      if (event.type === 'started') write(`# ${printable(`watertight ${event.version}: ${event.host}`)}\n`);
      const point = add(event);
      if (point !== null) write(line(point, points.length));
    },
    end(): void {
      const closing = closingPoint(record);
      if (closing !== null) write(line(closing, points.length + 1));
      const total = points.length + (closing === null ? 0 : 1);
      write(`1..${total}\n# ${printable(summarize(record))}\n`);
    },
  };
}
