import addFormats from 'ajv-formats';
import schema from '../../docs/schema/verify-1.schema.json' with { type: 'json' };
import type { VerifyEvent } from '../events.js';
import { parseJson } from '../json.js';
import { trustingAjv } from '../schema.js';

const ajv = trustingAjv({ allowUnionTypes: true });
addFormats.default(ajv);
ajv.addSchema(schema);
const isEvent = ajv.compile<VerifyEvent>({ $ref: `${schema.$id}#/$defs/event` });

/**
 * Reads one line of `--format ndjson` from another machine.
 * @returns the event, or null where the line is none: its sender is not what it should be
 */
export function parseEvent(line: string): VerifyEvent | null {
  const value = parseJson(line);
  return isEvent(value) ? value : null;
}
