/** How a confined process ended, as systemd tells ExecStopPost= (systemd.exec(5): $EXIT_CODE, $EXIT_STATUS). */
export type Ending =
  | { readonly kind: 'exited'; readonly status: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'unknown'; readonly detail: string };

/** Reads the line that the unit's ExecStopPost= wrote, for example `exited 3` or `killed TERM`. */
export function parseEnding(text: string): Ending {
  const [code, status] = text.trim().split(' ');
  if (code === 'exited' && status !== undefined && /^\d{1,3}$/.test(status)) {
    return { kind: 'exited', status: Number(status) };
  }
  if ((code === 'killed' || code === 'dumped') && status !== undefined && /^[A-Z0-9+-]+$/.test(status)) {
    return { kind: 'signalled', signal: `SIG${status}` as NodeJS.Signals };
  }
  return { kind: 'unknown', detail: text.trim() === '' ? 'the unit left no exit status' : `"${text.trim()}"` };
}

/**
 * Statuses of systemd itself for a unit that it could not set up (systemd.exec(5), "Process Exit Codes"): a child may
 * return them too, so they are passed on with a note.
 */
export function isSetUpStatus(status: number): boolean {
  return status >= 200 && status <= 245;
}
