import type { DenyReason } from './reasons.js';

/** Request line and header fields, as read: one character a byte. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Names and values in turn, as node:http's rawHeaders. */
  readonly fields: readonly string[];
}

export type HeadResult =
  | { readonly ok: true; readonly head: Head; readonly rest: Buffer }
  | { readonly ok: false; readonly reason: DenyReason }
  | null;

const REQUEST_LINE = /^(CONNECT) ([\u0021-\u007e\u0080-\u00ff]+) HTTP\/(1\.[01])$/;
/** token ":" OWS value OWS (RFC 9112, section 5): no space before the colon, no folding, no control characters. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\u0020-\u007e\u0080-\u00ff]*?)[ \t]*$/;
const END = Buffer.from('\r\n\r\n');

/**
 * Reads the head of a CONNECT request. As strict as node:http's parser, and stricter: every line ends in CRLF, nothing
 * is repaired.
 *
 * @param bytes all that was received so far
 * @returns null while the head is incomplete
 */
export function parseConnectHead(bytes: Buffer, limits: { headBytes: number; headFields: number }): HeadResult {
  const end = bytes.indexOf(END);
  if (end === -1 ? bytes.length > limits.headBytes : end > limits.headBytes) {
    return { ok: false, reason: 'request-too-large' };
  }
  if (end === -1) return null;
  const lines = bytes.toString('latin1', 0, end).split('\r\n');
  if (lines.length - 1 > limits.headFields) return { ok: false, reason: 'request-too-large' };
  const request = REQUEST_LINE.exec(lines[0] ?? '');
  if (request === null) return { ok: false, reason: 'request-malformed' };
  const fields: string[] = [];
  for (let index = 1; index < lines.length; index++) {
    const field = FIELD.exec(lines[index] ?? '');
    if (field === null) return { ok: false, reason: 'request-malformed' };
    fields.push(field[1] ?? '', field[2] ?? '');
  }
  const [, method = '', target = '', version = '1.1'] = request;
  return {
    ok: true,
    head: { method, target, version: version === '1.0' ? '1.0' : '1.1', fields },
    rest: bytes.subarray(end + END.length),
  };
}
