import type { Format } from './format-names.js';
import { humanReporter } from './human.js';
import { jsonReporter } from './json.js';
import { junitReporter } from './junit.js';
import { ndjsonReporter } from './ndjson.js';
import type { Output, Reporter } from './reporter.js';
import { tapReporter } from './tap.js';

/** Every output format by the name that `--format` takes. */
export const FORMATS = {
  human: humanReporter,
  tap: tapReporter,
  junit: junitReporter,
  json: jsonReporter,
  ndjson: ndjsonReporter,
} as const satisfies Readonly<Record<Format, (output: Output) => Reporter>>;
