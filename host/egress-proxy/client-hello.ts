/** What the first bytes of a tunnel say of the server that the client means (TLS server name, RFC 6066, section 3). */
export type Hello =
  | { readonly kind: 'name'; readonly name: string }
  /** A whole hello without a server name. */
  | { readonly kind: 'absent' }
  /** No TLS, or what two readers could read differently. */
  | { readonly kind: 'unreadable' };

/** Reads a ClientHello that comes in pieces. */
export interface HelloReader {
  /** Takes what arrived; null while the hello is not whole. Not to be called again after an answer. */
  readonly push: (chunk: Buffer) => Hello | null;
}

const UNREADABLE: Hello = { kind: 'unreadable' };
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD = 5;
const MESSAGE_HEAD = 4;
/** RFC 8446, section 5.1. */
const MAX_RECORD = 2 ** 14;
/** Hellos with several post-quantum key shares have a few KiB. */
const MAX_HELLO = 2 ** 16;

/** The hello may be spread over records, and records over packets, at any byte (RFC 8446, section 5.1). */
export function helloReader(): HelloReader {
  let raw: Buffer = Buffer.alloc(0);
  let message: Buffer = Buffer.alloc(0);
  const push = (chunk: Buffer): Hello | null => {
    raw = raw.length === 0 ? chunk : Buffer.concat([raw, chunk]);
    for (;;) {
      const record = readRecord(raw);
      if (record === null) return null;
      if (record === 'unreadable') return UNREADABLE;
      message = Buffer.concat([message, record]);
      raw = raw.subarray(RECORD_HEAD + record.length);
      const hello = readMessage(message);
      if (hello !== null) return hello;
    }
  };
  return { push };
}

/** Content of the first record; null while it is incomplete. What its head gives away is judged at once. */
function readRecord(raw: Buffer): Buffer | 'unreadable' | null {
  const isTls = (raw[0] ?? HANDSHAKE) === HANDSHAKE && (raw[1] ?? 3) === 3 && (raw[2] ?? 1) <= 4;
  if (!isTls) return 'unreadable';
  if (raw.length < RECORD_HEAD) return null;
  const length = raw.readUInt16BE(3);
  if (length === 0 || length > MAX_RECORD) return 'unreadable';
  return raw.length < RECORD_HEAD + length ? null : raw.subarray(RECORD_HEAD, RECORD_HEAD + length);
}

function readMessage(message: Buffer): Hello | null {
  if (message[0] !== CLIENT_HELLO) return UNREADABLE;
  if (message.length < MESSAGE_HEAD) return null;
  const length = message.readUIntBE(1, 3);
  if (length > MAX_HELLO) return UNREADABLE;
  if (message.length < MESSAGE_HEAD + length) return null;
  try {
    return readHello(new Cursor(message.subarray(MESSAGE_HEAD, MESSAGE_HEAD + length)));
  } catch (error) {
    if (error instanceof RangeError) return UNREADABLE;
    throw error;
  }
}

/** Takes bytes from the front; a RangeError where there are not enough. */
class Cursor {
  constructor(private bytes: Buffer) {}

  get empty(): boolean {
    return this.bytes.length === 0;
  }

  take(count: number): Buffer {
    if (count > this.bytes.length) throw new RangeError('beyond the end');
    const taken = this.bytes.subarray(0, count);
    this.bytes = this.bytes.subarray(count);
    return taken;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** A vector with its length in front (RFC 8446, section 3.4). */
  vector(lengthSize: number): Cursor {
    return new Cursor(this.take(this.number(lengthSize)));
  }
}

const SERVER_NAME = 0;
const HOST_NAME = 0;

/** RFC 8446, section 4.1.2. */
function readHello(hello: Cursor): Hello {
  hello.take(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.empty) return { kind: 'absent' };
  const extensions = hello.vector(2);
  if (!hello.empty) return UNREADABLE;
  let found: Hello = { kind: 'absent' };
  while (!extensions.empty) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    // One extension of a type (RFC 8446, section 4.2): which of two counts would be the server's choice.
    if (found.kind !== 'absent') return UNREADABLE;
    found = readServerName(content);
  }
  return found;
}

function readServerName(content: Cursor): Hello {
  const names = content.vector(2);
  if (!content.empty || names.number(1) !== HOST_NAME) return UNREADABLE;
  const name = names.take(names.number(2)).toString('latin1');
  return names.empty ? { kind: 'name', name } : UNREADABLE;
}
