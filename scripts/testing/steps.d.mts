/** What tap's closing comment says of a run; `failed` includes what was skipped or is to be done. */
export function sums(output: string): { readonly total: number; readonly passed: number; readonly failed: number };
