/**
 * Quotes an argument list for a POSIX shell, so that every argument arrives byte for byte.
 *
 * Inside single quotes nothing is special but the single quote itself (XCU 2.2.2), and that one is written as `'\''`.
 * @throws RangeError where an argument holds a NUL, which no argument can, or half a surrogate pair, which has no bytes.
 */
export function quote(args: readonly string[]): string {
  return args.map(quoteOne).join(' ');
}

/** Needs no quotes anywhere in a command line; `=` and `~` are left out, for they mean something in the first word. */
const PLAIN = /^[A-Za-z0-9_./:@%+,-]+$/;

function quoteOne(arg: string): string {
  assertPassable(arg);
  if (PLAIN.test(arg)) return arg;
  return `'${arg.replaceAll("'", "'\\''")}'`;
}

/** Half a surrogate pair: encoding it as UTF-8 would silently make U+FFFD of it. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** @throws RangeError where the text cannot be an argument of a process. */
function assertPassable(arg: string): void {
  if (arg.includes('\0')) throw new RangeError('an argument holds a NUL byte');
  if (LONE_SURROGATE.test(arg)) throw new RangeError('an argument holds half a surrogate pair');
}
