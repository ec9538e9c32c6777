/** The last lines of what a program said: where it says why it failed. */
export function lastLines(text: string, count: number): string {
  return text.trim().split('\n').slice(-count).join('\n');
}
