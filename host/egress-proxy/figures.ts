import { REASONS, type Reason } from './reasons.js';

/** What a proxy has done since its start. */
export interface FiguresNow {
  /** Requests by the reason of their decision; every reason is there. */
  readonly decisions: Readonly<Record<Reason, number>>;
  /** Tunnels that stand. */
  readonly tunnels: number;
  /** Of exchanges that are over, at the far side. */
  readonly bytes: { readonly up: number; readonly down: number };
}

/** Counts what the proxy does. */
export interface Figures {
  readonly decided: (reason: Reason) => void;
  readonly ended: (bytesUp: number, bytesDown: number) => void;
  readonly tunnelOpened: () => void;
  readonly tunnelClosed: () => void;
  readonly now: () => FiguresNow;
}

export function figures(): Figures {
  const decisions = Object.fromEntries(Object.keys(REASONS).map((reason) => [reason, 0])) as Record<Reason, number>;
  const bytes = { up: 0, down: 0 };
  let tunnels = 0;
  return {
    decided: (reason) => {
      decisions[reason] += 1;
    },
    ended: (bytesUp, bytesDown) => {
      bytes.up += bytesUp;
      bytes.down += bytesDown;
    },
    tunnelOpened: () => {
      tunnels += 1;
    },
    tunnelClosed: () => {
      tunnels -= 1;
    },
    now: () => ({ decisions: { ...decisions }, tunnels, bytes: { ...bytes } }),
  };
}
