import type { WriteStream } from 'node:tty';
import { coloursFor } from '../cli/colours.js';
import type { Output } from './reporter.js';

/** Standard output as reporters see it. */
export function standardOutput(stream: Pick<WriteStream, 'write' | 'isTTY'> = process.stdout): Output {
  return {
    write: (text) => {
      stream.write(text);
    },
    colours: coloursFor(stream, process.env),
    interactive: stream.isTTY === true,
  };
}
