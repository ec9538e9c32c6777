import { Ajv2020, type Options } from 'ajv/dist/2020.js';

/**
 * An ajv for JSON Schema 2020-12 that takes our own schemas on trust: holding a schema against the meta-schema first
 * takes ten times as long as compiling it, at every start of every command. test/core/schema.test.ts does it instead.
 */
export function trustingAjv(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: true, ...options, meta: false, validateSchema: false });
}
