import { CONNECT_ADDRESS, HOST_NAME, HTTP_METHOD, JUMP, REMOTE_USER, TENANT_NAME, UNIX_USER } from './grammar.js';

/** Each description completes the sentence "expected …" in an error. */
const CONNECTION = {
  port: { type: 'integer', minimum: 1, maximum: 65535, description: 'a port between 1 and 65535' },
  user: { type: 'string', pattern: REMOTE_USER.source, description: 'a user of the host' },
  identity: { type: 'string', minLength: 1, description: 'the path of a private key' },
  known_hosts: { type: 'string', minLength: 1, description: 'the path of a known_hosts file' },
  jump: { type: 'string', pattern: JUMP.source, description: 'a bastion host as user@host:port' },
  become: { type: 'string', enum: ['sudo', 'none'], description: 'sudo or none' },
  connection: { type: 'string', enum: ['ssh', 'local'], description: 'ssh or local' },
} as const;

const TENANT_NAME_SCHEMA = {
  type: 'string',
  pattern: TENANT_NAME.source,
  description:
    'a tenant name: a lower-case letter, then lower-case letters, digits and inner hyphens, 28 characters at most',
} as const;

const HOST = {
  type: 'object',
  description: 'a host: a mapping with its tenants',
  additionalProperties: false,
  required: ['tenants'],
  properties: {
    address: {
      type: 'string',
      pattern: CONNECT_ADDRESS.source,
      description: 'a host name or an address to connect to, or local',
    },
    ...CONNECTION,
    tenants: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      description: 'a list of tenants, each once, at least one',
      items: TENANT_NAME_SCHEMA,
    },
  },
} as const;

const ENTRY = {
  type: 'string',
  format: 'watertight-allow-pattern',
  description: 'an entry like "example.com", "*.docs.example.org" or "api.example.net:8443"',
} as const;

const LIMIT = { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'a whole number, 1 to 1000000' } as const;

const TENANT = {
  type: 'object',
  description: 'a tenant: a mapping with its allowlist',
  additionalProperties: false,
  required: ['allow'],
  properties: {
    allow: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      description: 'a list of hosts that may be reached, each once, at least one',
      items: ENTRY,
    },
    deny: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      description: 'a list of hosts that may not be reached though allow has them, each once, at least one',
      items: ENTRY,
    },
    limits: {
      type: 'object',
      description: "bounds of the tenant's proxy",
      additionalProperties: false,
      properties: { connections: LIMIT, requests_per_second: LIMIT },
    },
    methods: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      description: 'a list of methods that plain HTTP may use, each once, at least one',
      items: { type: 'string', pattern: HTTP_METHOD.source, description: 'a method in capitals, for example GET' },
    },
    runtimes: {
      type: 'array',
      uniqueItems: true,
      description: 'a list of users that may launch confined work, each once',
      items: {
        type: 'string',
        pattern: UNIX_USER.source,
        description:
          'a Unix user: lower-case letters, digits, hyphens and underscores, 32 characters at most; not root, watertight or wt-…',
      },
    },
    sni: {
      type: 'string',
      enum: ['enforce', 'report', 'off'],
      description: 'enforce, report or off: whether TLS must name the host that was asked for',
    },
    proxy: {
      type: 'object',
      description: "the address and port of the tenant's proxy",
      additionalProperties: false,
      properties: {
        address: {
          type: 'string',
          format: 'watertight-proxy-address',
          description: 'an address of 127.64.0.0/10 that ends on 1 to 254',
        },
        port: CONNECTION.port,
      },
    },
  },
} as const;

/** The configuration file, JSON Schema 2020-12. Published as docs/configuration.schema.json. */
export const CONFIGURATION_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'watertight configuration, version 1',
  description: 'a mapping with version, hosts and tenants',
  type: 'object',
  additionalProperties: false,
  required: ['version', 'hosts', 'tenants'],
  properties: {
    version: { const: 1, description: 'version 1, the only one there is' },
    defaults: {
      type: 'object',
      description: 'a mapping with what hosts have in common',
      additionalProperties: false,
      properties: CONNECTION,
    },
    hosts: {
      type: 'object',
      description: 'a mapping of hosts, at least one',
      minProperties: 1,
      propertyNames: {
        pattern: HOST_NAME.source,
        description: 'a host name: letters, digits, dots, hyphens and underscores, no hyphen at its ends',
      },
      additionalProperties: HOST,
    },
    tenants: {
      type: 'object',
      description: 'a mapping of tenants, at least one',
      minProperties: 1,
      propertyNames: { pattern: TENANT_NAME.source, description: TENANT_NAME_SCHEMA.description },
      additionalProperties: TENANT,
    },
  },
} as const;
