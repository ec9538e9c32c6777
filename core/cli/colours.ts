import pc from 'picocolors';

export type Colours = ReturnType<typeof pc.createColors>;

/** Colours for a stream: only on a terminal that takes them, never where NO_COLOR is set (no-color.org). */
export function coloursFor(stream: { readonly isTTY?: boolean }, environment: NodeJS.ProcessEnv): Colours {
  const refused = Boolean(environment.NO_COLOR) || environment.TERM === 'dumb';
  return pc.createColors(stream.isTTY === true && !refused);
}
