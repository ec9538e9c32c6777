/** What was thrown, in words: JavaScript throws anything, and libraries do. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
