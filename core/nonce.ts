import { randomBytes } from 'node:crypto';

/**
 * A word that no output and no other run holds by chance: 96 bits.
 * @param prefix begins with a letter, so that the word can be a label of a host name or a part of a unit's
 * @returns the prefix and 24 hexadecimal digits
 */
export function newNonce(prefix: string): string {
  return `${prefix}${randomBytes(12).toString('hex')}`;
}
