/** Read buffers of tunnels: a small one each, and large ones that are lent while much arrives. */
export interface ReadBuffer {
  /** The buffer for the next read. */
  readonly next: () => Buffer;
  /**
   * Says how the last read went, before `next` is asked.
   *
   * @param read bytes read
   * @param flushed whether they have left the buffer already
   */
  readonly used: (read: number, flushed: boolean) => void;
  /** Gives back what was lent. */
  readonly release: () => void;
}

const SMALL = 4 * 1024;
const LARGE = 64 * 1024;
const MAX_SPARE = 64;

const spare: Buffer[] = [];

/**
 * A read buffer of its own for one socket. It is never shared while bytes are in it: a write that did not go out at
 * once still reads from it, so it only changes hands when everything is flushed.
 */
export function readBuffer(): ReadBuffer {
  const small = Buffer.allocUnsafeSlow(SMALL);
  let large: Buffer | null = null;
  const release = (): void => {
    if (large !== null && spare.length < MAX_SPARE) spare.push(large);
    large = null;
  };
  return {
    next: () => large ?? small,
    used: (read, flushed) => {
      if (large === null) {
        if (read === SMALL) large = spare.pop() ?? Buffer.allocUnsafeSlow(LARGE);
      } else if (flushed && read < LARGE) {
        release();
      }
    },
    release,
  };
}
