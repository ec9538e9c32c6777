import { printable, printableJson } from '../printable.js';
import { closingPoint, pointCollector, type TestPoint } from './points.js';
import type { RunRecord } from './record.js';
import type { Output, Reporter } from './reporter.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for an attribute or an element. Controls are not XML at all, even as references, so they are shown escaped. */
function xml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xml(String(value))}"`)
    .join('');
}

/** A no is a failure, a could-not-tell is an error: JUnit keeps the same two apart. */
function outcome(point: TestPoint): string {
  if (point.answer === 'yes') return '';
  const element = point.answer === 'no' ? 'failure' : 'error';
  const fix = point.fix === null ? [] : [`fix: ${point.fix}`];
  const body = [point.reason, ...fix, printableJson(point.details)].map(xml).join('\n');
  return `<${element}${attributes({ type: point.word, message: point.reason })}>${body}</${element}>`;
}

function suite(name: string, points: readonly TestPoint[], record: RunRecord): string {
  const host = record.started?.host ?? 'unknown';
  const head = attributes({
    name: `${host}.${name}`,
    tests: points.length,
    failures: points.filter(({ answer }) => answer === 'no').length,
    errors: points.filter(({ answer }) => answer === 'could not tell').length,
    skipped: 0,
    hostname: host,
    ...(record.started === null ? {} : { timestamp: record.started.at }),
  });
  const cases = points.map(
    (point) =>
      `    <testcase${attributes({ classname: `${host}.${name}`, name: point.name })}>${outcome(point)}</testcase>\n`,
  );
  return `  <testsuite${head}>\n${cases.join('')}  </testsuite>\n`;
}

/** JUnit XML, one document at the end: a suite a tenant, one for the prerequisites, one for what befell the run. */
export function junitReporter({ write }: Output): Reporter {
  const { record, points, add } = pointCollector();
  return {
    event(event): void {
      add(event);
    },
    end(): void {
      const closing = closingPoint(record);
      const all = closing === null ? points : [...points, closing];
      const names = [...new Set(all.map((point) => point.suite))];
      const suites = names.map((name) =>
        suite(
          name,
          all.filter((point) => point.suite === name),
          record,
        ),
      );
      const seconds = ((record.finished?.durationMs ?? 0) / 1000).toFixed(3);
      const head = attributes({
        name: 'watertight verify',
        tests: all.length,
        failures: all.filter(({ answer }) => answer === 'no').length,
        errors: all.filter(({ answer }) => answer === 'could not tell').length,
        time: seconds,
      });
      write(`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites.join('')}</testsuites>\n`);
    },
  };
}
