import type { Colours } from '../cli/colours.js';
import type { VerifyEvent } from '../events.js';

/** Renders the events of one verify run in one format. */
export interface Reporter {
  event(event: VerifyEvent): void;
  /** No more events will come, whether or not the run said that it finished. Writes what was held back. */
  end(): void;
}

/** Where a reporter writes, and what that place can show. */
export interface Output {
  readonly write: (text: string) => void;
  readonly colours: Colours;
  /** A line may be overwritten: a terminal. */
  readonly interactive: boolean;
  /** Human format: the raw observations of what is not proven are wanted too. */
  readonly evidence?: boolean;
}
