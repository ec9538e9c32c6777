import type { Socket } from 'node:net';
import { type Hello, helloReader } from './client-hello.js';

/** What came of waiting: a hello and all bytes so far, or that the client left. */
export type Awaited =
  | { readonly kind: 'hello'; readonly hello: Hello; readonly bytes: Buffer }
  | { readonly kind: 'gone' };

/**
 * Reads a client's first bytes until they are a whole hello, can be none, or the time is over. The client is paused
 * then, with nothing listening to it; a half-closed one stays half closed.
 *
 * @param early what came behind the CONNECT
 */
export function awaitHello(client: Socket, early: Buffer, deadlineMs: number, done: (awaited: Awaited) => void): void {
  const reader = helloReader();
  const chunks: Buffer[] = [];
  const settle = (awaited: Awaited): void => {
    clearTimeout(timer);
    client.removeListener('data', onData);
    client.removeListener('end', giveUp);
    client.removeListener('close', onClose);
    client.pause();
    done(awaited);
  };
  const say = (hello: Hello): void => settle({ kind: 'hello', hello, bytes: Buffer.concat(chunks) });
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    const hello = reader.push(chunk);
    if (hello !== null) say(hello);
  };
  const giveUp = (): void => say({ kind: 'unreadable' });
  const onClose = (): void => settle({ kind: 'gone' });
  const timer = setTimeout(giveUp, deadlineMs);
  client.on('data', onData);
  client.on('end', giveUp);
  client.on('close', onClose);
  client.resume();
  if (early.length > 0) onData(early);
}
