import { HOST_NAME, HTTP_METHOD } from '../core/configuration/grammar.js';
import { isProxyAddress } from '../core/configuration/proxy-address.js';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { printable } from '../core/printable.js';
import { trustingAjv } from '../core/schema.js';
import { parseAllowPattern } from './allow-pattern.js';
import { PATHS, TENANT_NAME, UNIX_USER } from './names.js';
import type { HostProfile } from './profile.js';

const ajv = trustingAjv();
ajv.addFormat('watertight-allow-pattern', (text) => parseAllowPattern(text).ok);
ajv.addFormat('watertight-proxy-address', isProxyAddress);

const LIMIT = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const;

const TENANT = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'allow', 'runtimes', 'proxy'],
  properties: {
    name: { type: 'string', pattern: TENANT_NAME.source },
    allow: { type: 'array', minItems: 1, items: { type: 'string', format: 'watertight-allow-pattern' } },
    runtimes: { type: 'array', items: { type: 'string', pattern: UNIX_USER.source } },
    deny: { type: 'array', minItems: 1, items: { type: 'string', format: 'watertight-allow-pattern' } },
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: { connections: LIMIT, requests_per_second: LIMIT },
    },
    methods: { type: 'array', minItems: 1, items: { type: 'string', pattern: HTTP_METHOD.source } },
    sni: { enum: ['enforce', 'report', 'off'] },
    proxy: {
      type: 'object',
      additionalProperties: false,
      required: ['address', 'port'],
      properties: {
        address: { type: 'string', format: 'watertight-proxy-address' },
        port: { type: 'integer', minimum: 1, maximum: 65535 },
      },
    },
  },
} as const;

/** The form of /etc/watertight/profile.json. */
export const HOST_PROFILE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['version', 'host', 'tenants'],
  properties: {
    version: { const: 1 },
    host: { type: 'string', pattern: HOST_NAME.source },
    tenants: { type: 'array', items: TENANT },
  },
} as const;

const validate = ajv.compile<HostProfile>(HOST_PROFILE_SCHEMA);

/**
 * Reads a host's profile back, for example from /etc/watertight/profile.json.
 *
 * @param json the file's text, or what it was parsed to.
 * @throws Failure, exit 78, where it is not a profile of this version.
 */
export function parseHostProfile(json: unknown): HostProfile {
  const profile = typeof json === 'string' ? parseJson(json) : json;
  if (validate(profile)) return profile;
  throw notAProfile(ajv.errorsText(validate.errors, { dataVar: 'profile', separator: '; ' }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notAProfile(error instanceof Error ? error.message : 'not JSON');
  }
}

function notAProfile(why: string): Failure {
  const message = `${PATHS.profile} is not a profile of version 1: ${printable(why)}`;
  return new Failure(message, EXIT.configuration, 'provision the host again: watertight provision HOST');
}
