/** Read buffers of tunnels: a small one each, and large ones that are lent while much arrives. */
export interface ReadBuffer {
  /** The buffer for the next read. Where the last one is still being written out, there is no read until it is. */
  readonly next: () => Buffer;
  /**
   * Says how the last read went, before `next` is asked.
   *
   * @param read bytes read
   * @param flushed whether they have left the buffer already
   */
  readonly used: (read: number, flushed: boolean) => void;
  /** Says that what was not flushed has left the buffer now. */
  readonly flushed: () => void;
  /** Gives back what was lent; where bytes of it are still on their way it is left to the garbage collector. */
  readonly release: () => void;
}

const SMALL = 4 * 1024;
const LARGE = 64 * 1024;
const MAX_SPARE = 64;

const spare: Buffer[] = [];
let lent = 0;

/** Large buffers that are out now. */
export function lentBuffers(): number {
  return lent;
}

function lend(): Buffer {
  lent += 1;
  return spare.pop() ?? Buffer.allocUnsafeSlow(LARGE);
}

/**
 * A read buffer of its own for one socket. It is never shared while bytes are in it: a write that did not go out at
 * once still reads from it, so it only changes hands when everything is flushed.
 *
 * After a read that met a slow client the small one is next: that read may have been the last for hours, and which
 * buffer a socket reads into can only be said with the read before.
 */
export function readBuffer(): ReadBuffer {
  const small = Buffer.allocUnsafeSlow(SMALL);
  let large: Buffer | null = null;
  let waiting = false;
  const release = (): void => {
    if (large === null) return;
    lent -= 1;
    if (!waiting && spare.length < MAX_SPARE) spare.push(large);
    large = null;
  };
  return {
    next: () => (waiting ? small : (large ?? small)),
    used: (read, flushed) => {
      waiting = !flushed;
      if (waiting) return;
      if (large === null) {
        if (read === SMALL) large = lend();
      } else if (read < LARGE) {
        release();
      }
    },
    flushed: () => {
      waiting = false;
      release();
    },
    release,
  };
}
