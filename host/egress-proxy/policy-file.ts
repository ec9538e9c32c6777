import { isIP } from 'node:net';
import { ConfigurationFailure, type ConfigurationProblem } from '../../core/failure.js';
import { parseEntry } from './entry.js';

/** The policy of one tenant, as it lies on the host for its proxy. */
export interface PolicyFile {
  readonly version: 1;
  readonly tenant: string;
  /** `report`: names that are not listed pass and are logged as what would have been denied. Addresses stay denied. */
  readonly mode: 'enforce' | 'report';
  /** Whether the TLS server name in a tunnel must be the CONNECT's: `report` only logs. Absent: `off`. */
  readonly sni?: 'enforce' | 'report' | 'off';
  /** Where the proxy's own limits do not suit the tenant. */
  readonly limits?: { readonly connections?: number; readonly requests_per_second?: number };
  /** Methods of plain HTTP that are allowed; absent: all. */
  readonly methods?: readonly string[];
  /** Entries that allow; entries without a port allow 80 and 443. */
  readonly allow: readonly string[];
  /** Entries that deny and win over `allow`; entries without a port deny every port. */
  readonly deny?: readonly string[];
  readonly pins: readonly PolicyPin[];
}

/** A name that is connected to a fixed address, without DNS and without classification. It allows nothing else. */
export interface PolicyPin {
  /** Exact name, or `*.name`. No port. */
  readonly name: string;
  readonly address: string;
  readonly ports: readonly number[];
}

type Report = (path: string, value: unknown, expected: string) => void;
type Validator = (value: unknown, path: string, report: Report) => void;

const KEYS: Readonly<Record<string, Validator>> = {
  version: (value, path, report) => value === 1 || report(path, value, 'the version 1'),
  tenant: (value, path, report) => (typeof value === 'string' && value !== '') || report(path, value, 'a tenant name'),
  mode: (value, path, report) =>
    value === 'enforce' || value === 'report' || report(path, value, '"enforce" or "report"'),
  sni: (value, path, report) =>
    value === 'enforce' || value === 'report' || value === 'off' || report(path, value, '"enforce", "report" or "off"'),
  limits: (value, path, report) => checkKeys(value, path, report, LIMIT_KEYS),
  methods: (value, path, report) => eachOf(value, path, report, checkMethod, 'a list of at least one method', 1),
  allow: (value, path, report) => eachOf(value, path, report, checkEntry),
  deny: (value, path, report) => eachOf(value, path, report, checkEntry),
  pins: (value, path, report) => eachOf(value, path, report, checkPin),
};
const OPTIONAL: ReadonlySet<string> = new Set([
  'deny',
  'limits',
  'methods',
  'sni',
  'connections',
  'requests_per_second',
]);

const LIMIT_KEYS: Readonly<Record<string, Validator>> = {
  connections: atMost(1_000_000),
  requests_per_second: atMost(1_000_000),
};

const PIN_KEYS: Readonly<Record<string, Validator>> = {
  name: checkPinName,
  address: (value, path, report) =>
    (typeof value === 'string' && isIP(value) !== 0 && !value.includes('%')) || report(path, value, 'an IP address'),
  ports: (value, path, report) => eachOf(value, path, report, checkPort, 'a list of at least one port', 1),
};

/** Reads a policy file's text. Throws ConfigurationFailure with every problem found; an unknown key is one. */
export function parsePolicyFile(text: string, file: string): PolicyFile {
  const problems: ConfigurationProblem[] = [];
  const report: Report = (path, value, expected) => {
    problems.push({ file, line: 1, column: 1, path, value: printable(value), expected });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    report('', error instanceof Error ? error.message : error, 'JSON');
    throw new ConfigurationFailure(problems);
  }
  checkKeys(value, '', report, KEYS);
  if (problems.length > 0) throw new ConfigurationFailure(problems);
  return value as PolicyFile;
}

function checkKeys(value: unknown, path: string, report: Report, keys: Readonly<Record<string, Validator>>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, value, 'an object');
    return;
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(keys, key)) report(`${path}/${key}`, key, `one of ${Object.keys(keys).join(', ')}`);
  }
  for (const [key, validate] of Object.entries(keys)) {
    if (Object.hasOwn(value, key)) validate((value as Record<string, unknown>)[key], `${path}/${key}`, report);
    else if (!OPTIONAL.has(key)) report(`${path}/${key}`, undefined, 'this key');
  }
}

function eachOf(value: unknown, path: string, report: Report, check: Validator, expected = 'a list', least = 0): void {
  if (!Array.isArray(value) || value.length < least) {
    report(path, value, expected);
    return;
  }
  for (const [index, item] of value.entries()) check(item, `${path}/${index}`, report);
}

function checkEntry(value: unknown, path: string, report: Report): void {
  const parsed = typeof value === 'string' ? parseEntry(value) : ({ ok: false, fault: 'text' } as const);
  if (!parsed.ok) report(path, value, parsed.fault);
}

function checkPin(value: unknown, path: string, report: Report): void {
  checkKeys(value, path, report, PIN_KEYS);
}

function checkPinName(value: unknown, path: string, report: Report): void {
  const parsed = typeof value === 'string' ? parseEntry(value) : null;
  const fits = parsed?.ok === true && parsed.value.kind === 'name' && parsed.value.ports === null;
  if (!fits) report(path, value, 'a host name or *.name, without a port');
}

function atMost(most: number): Validator {
  return (value, path, report) => {
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
    if (!fits) report(path, value, `a whole number, 1 to ${most}`);
  };
}

function checkMethod(value: unknown, path: string, report: Report): void {
  // Methods are told apart by case (RFC 9110, section 9.1); all that node:http knows are in capitals.
  const fits = typeof value === 'string' && /^[A-Z][A-Z-]*$/.test(value) && value !== 'CONNECT';
  if (!fits) report(path, value, 'a method of plain HTTP in capitals, for example GET');
}

function checkPort(value: unknown, path: string, report: Report): void {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535;
  if (!fits) report(path, value, 'a port, 1 to 65535');
}

function printable(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
