/**
 * What must not reach a terminal or a log from outside: C0 and C1 controls (ECMA-48: they move the cursor, set titles,
 * answer queries), line separators, the marks that reorder text (Unicode TR 36), and the two that XML 1.0 has no place for.
 */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;
/** A surrogate without its partner cannot be written as UTF-8. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0x0a) return '\\n';
  if (code === 0x0d) return '\\r';
  if (code === 0x09) return '\\t';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The text on one line, safe to write to a terminal: whatever could steer it is shown as an escape. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped).replace(LONE_SURROGATE, escaped);
}

/** As {@link printable}, for texts of several lines: line feeds stay. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON on one line, of the same value, in which whatever could steer a terminal stands as a \\u escape. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
