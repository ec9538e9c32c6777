const LONGEST = 80;

/** A value from outside as one short, harmless line: JSON, every control and invisible character escaped, shortened. */
export function printable(value: unknown): string {
  const text = (JSON.stringify(value) ?? String(value)).replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
