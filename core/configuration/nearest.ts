import { closest, distance } from 'fastest-levenshtein';
import { shown } from './shown.js';

/** The known word that was probably meant; null where none is near enough to be a slip of the hand. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const candidate = closest(word, known);
  return distance(word, candidate) <= Math.max(2, word.length / 3) ? candidate : null;
}

/** An unknown name and what there is instead, ready for a message and its hint. */
export function nearestOf(word: string, known: readonly string[]): { readonly said: string; readonly hint: string } {
  const near = nearest(word, known);
  return {
    said: shown(word),
    hint: near === null ? `one of: ${known.join(', ')}` : `did you mean ${near}?`,
  };
}
