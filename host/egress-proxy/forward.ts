import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { establish } from './establish.js';
import { requestFields } from './forward-headers.js';
import type { ProxyContext } from './proxy-context.js';
import { refuse } from './refuse.js';
import { relay } from './relay.js';

/** Serves one plain HTTP request in absolute form. Each request of a kept connection comes here and is decided anew. */
export function serveForward(context: ProxyContext, incoming: IncomingMessage, response: ServerResponse): void {
  const method = incoming.method ?? '';
  const fields = incoming.rawHeaders;
  incoming.on('error', ignore);
  response.on('error', ignore);
  establish({
    context,
    client: incoming.socket,
    head: { method, target: incoming.url ?? '', version: incoming.httpVersion === '1.0' ? '1.0' : '1.1', fields },
    leaving: response,
    makeReader: asStream,
    refuse: (reason) => refuse(incoming, response, reason),
    connected: ({ target, path, upstream, account, outcome }) => {
      const chunked = incoming.headers['transfer-encoding'] !== undefined;
      const outgoing = send(method, path, requestFields(fields, target, chunked), upstream);
      relay({ incoming, response, outgoing, account, outcome, upstream }, context);
    },
  });
}

const ignore = (): void => {};
/** Read as a stream: no reader of its own. */
const asStream = (): object => ({});

function send(method: string, path: string, fields: string[], socket: Socket): ClientRequest {
  const outgoing = httpRequest({
    method,
    path,
    headers: fields as unknown as Record<string, string>,
    setHost: false,
    createConnection: () => socket,
  });
  socket.resume();
  return outgoing;
}
