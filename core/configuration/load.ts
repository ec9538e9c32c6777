import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { ConfigurationFailure } from '../failure.js';
import { parseAllowPattern } from './allow-pattern.js';
import type {
  Configuration,
  HostEntry,
  RawConfiguration,
  RawConnection,
  RawHost,
  RawTenant,
  TenantEntry,
} from './configuration.js';
import { crossProblems } from './cross-check.js';
import { readDocument } from './document.js';
import { configurationPlaces, readFirst } from './places.js';
import { schemaProblems } from './validate.js';

/**
 * Finds, reads and validates the configuration.
 *
 * @param path the file to read; absent: the places of places.ts, in their order.
 * @throws Failure (exit 78) where there is none; ConfigurationFailure (exit 78) with everything that is wrong in it.
 */
export async function loadConfiguration(path?: string): Promise<Configuration> {
  const found = await readFirst(path === undefined ? configurationPlaces() : [resolve(path)]);
  return parseConfiguration(found.text, found.path);
}

/**
 * Validates the text of a configuration. Pure but for the home folder, against which `~` is expanded.
 *
 * @param path absolute path that the text came from: named in errors, and what relative paths in it are relative to.
 * @throws ConfigurationFailure with all problems at once, in the order of the file.
 */
export function parseConfiguration(text: string, path: string, home: string = homedir()): Configuration {
  const document = readDocument(text, path);
  const problems = [...document.problems];
  if (document.usable) problems.push(...schemaProblems(document, path));
  if (problems.length === 0) problems.push(...crossProblems(document, path));
  if (problems.length > 0) {
    throw new ConfigurationFailure(problems.sort((a, b) => a.line - b.line || a.column - b.column));
  }
  const raw = document.data as RawConfiguration;
  const expand = (file: string) =>
    resolve(
      dirname(path),
      file.replace(/^~(?=\/|$)/, () => home),
    );
  return {
    path,
    hosts: new Map(
      Object.entries(raw.hosts).map(([name, host]) => [name, hostEntry(name, host, raw.defaults, expand)]),
    ),
    tenants: new Map(Object.entries(raw.tenants).map(([name, tenant]) => [name, tenantEntry(name, tenant)])),
  };
}

function hostEntry(
  name: string,
  host: RawHost,
  defaults: RawConnection | undefined,
  expand: (file: string) => string,
): HostEntry {
  const { address, port, user, identity, known_hosts, jump, become, connection, tenants }: RawHost = {
    ...defaults,
    ...host,
  };
  return {
    name,
    ...(address !== undefined && { address }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(identity !== undefined && { identity: expand(identity) }),
    ...(known_hosts !== undefined && { knownHosts: expand(known_hosts) }),
    ...(jump !== undefined && { jump }),
    become: become ?? 'sudo',
    local: address === 'local' || connection === 'local',
    tenants,
  };
}

function tenantEntry(name: string, { allow, deny, limits, methods, runtimes, sni, proxy }: RawTenant): TenantEntry {
  return {
    name,
    allow: canonical(allow),
    ...(deny && { deny: canonical(deny) }),
    ...(limits && { limits }),
    ...(methods && { methods }),
    runtimes: runtimes ?? [],
    ...(sni && { sni }),
    ...(proxy && { proxy }),
  };
}

/** Entries in canonical spelling, each once. */
function canonical(entries: readonly string[]): readonly string[] {
  const spelled = entries.map((entry) => {
    const result = parseAllowPattern(entry);
    return result.ok ? result.pattern.canonical : entry; // the schema has refused all that do not parse
  });
  return [...new Set(spelled)];
}
