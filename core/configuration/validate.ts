import type { ErrorObject } from 'ajv/dist/2020.js';
import type { ConfigurationProblem } from '../failure.js';
import { trustingAjv } from '../schema.js';
import { parseAllowPattern } from './allow-pattern.js';
import type { ConfigurationDocument, DocumentPath } from './document.js';
import { nearest } from './nearest.js';
import { isProxyAddress } from './proxy-address.js';
import { CONFIGURATION_SCHEMA } from './schema.js';
import { shown } from './shown.js';

const ajv = trustingAjv({ allErrors: true, verbose: true });
ajv.addFormat('watertight-allow-pattern', (text) => parseAllowPattern(text).ok);
ajv.addFormat('watertight-proxy-address', isProxyAddress);
const validate = ajv.compile(CONFIGURATION_SCHEMA);

/** Everything that the schema finds wrong, in the order of the file. */
export function schemaProblems(document: ConfigurationDocument, file: string): readonly ConfigurationProblem[] {
  if (validate(document.data)) return [];
  const errors = validate.errors ?? [];
  const mistyped = new Set(errors.map(meantKey).filter((place) => place !== null));
  return errors
    .filter((error) => error.propertyName === undefined) // said again, with its place, by propertyNames
    .filter((error) => error.keyword !== 'required' || !mistyped.has(keyPlace(error, error.params.missingProperty)))
    .map((error) => problemOf(error, document, file));
}

/** Where the key that a mistyped one stands for would be: that one is not missing besides. */
function meantKey(error: ErrorObject): string | null {
  if (error.keyword !== 'additionalProperties') return null;
  const meant = nearest(String(error.params.additionalProperty), knownKeys(error));
  return meant === null ? null : keyPlace(error, meant);
}

function keyPlace({ instancePath }: ErrorObject, key: unknown): string {
  return `${instancePath}/${key}`;
}

function knownKeys(error: ErrorObject): readonly string[] {
  return Object.keys((error.parentSchema as SchemaPart | undefined)?.properties ?? {});
}

function problemOf(error: ErrorObject, document: ConfigurationDocument, file: string): ConfigurationProblem {
  const parent = splitPointer(error.instancePath, document.data);
  const key = offendingKey(error);
  const path = key === null ? parent : [...parent, key];
  return {
    file,
    ...document.locate(path, key === null ? 'value' : 'key'),
    path: pointer(path),
    value: shown(key ?? error.data),
    expected: expectation(error),
  };
}

/** The key that is wrong itself, where it is not a value that is wrong. */
function offendingKey(error: ErrorObject): string | null {
  if (error.keyword === 'additionalProperties') return String(error.params.additionalProperty);
  if (error.keyword === 'propertyNames') return String(error.params.propertyName);
  return null;
}

/** What an error's schema is asked for. */
interface SchemaPart {
  readonly description?: string;
  readonly properties?: object;
}

function expectation(error: ErrorObject): string {
  const schema = (error.parentSchema ?? {}) as SchemaPart;
  switch (error.keyword) {
    case 'additionalProperties':
      return nearestKey(String(error.params.additionalProperty), knownKeys(error));
    case 'propertyNames':
      return String((error.schema as SchemaPart).description);
    case 'required':
      return `the key ${error.params.missingProperty}`;
    case 'format':
      return formatReason(error) ?? String(schema.description);
    default:
      return schema.description ?? String(error.message);
  }
}

function formatReason(error: ErrorObject): string | null {
  if (error.params.format !== 'watertight-allow-pattern' || typeof error.data !== 'string') return null;
  const result = parseAllowPattern(error.data);
  return result.ok ? null : result.reason;
}

/** The known keys, and the one that was probably meant. */
function nearestKey(unknown: string, known: readonly string[]): string {
  const near = nearest(unknown, known);
  return near === null ? `one of the keys ${known.join(', ')}` : `a known key; did you mean ${near}?`;
}

/** Turns a JSON pointer into steps; a step is an index only where the data has an array. */
function splitPointer(text: string, data: unknown): DocumentPath {
  let at = data;
  return text
    .split('/')
    .slice(1)
    .map((step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const key = Array.isArray(at) ? Number(name) : name;
      at = (at as Record<string | number, unknown> | null)?.[key];
      return key;
    });
}

/** Steps as a JSON pointer (RFC 6901), printable. */
export function pointer(path: DocumentPath): string {
  const steps = path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return shown(steps.join('')).slice(1, -1);
}
