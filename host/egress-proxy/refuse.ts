import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerBody, answerFields } from './answer.js';
import { REASONS, type Reason } from './reasons.js';

/** Answers a plain HTTP request with the proxy's own words, unless an answer is on its way already. */
export function refuse(incoming: IncomingMessage, response: ServerResponse, reason: Reason): void {
  if (response.headersSent || response.destroyed) return;
  const { status } = REASONS[reason];
  if (!isWorthReading(incoming)) response.shouldKeepAlive = false;
  response.writeHead(status, answerFields(reason));
  response.end(incoming.method === 'HEAD' ? undefined : answerBody(reason));
  incoming.resume();
}

const MAX_UNWANTED = 1024 * 1024;

/**
 * A refused request's body is read and dropped, so that the answer arrives and the connection can serve the next one;
 * not a large one, and not one that waits for a 100 and may never come.
 */
function isWorthReading(incoming: IncomingMessage): boolean {
  return incoming.headers.expect === undefined && Number(incoming.headers['content-length'] ?? 0) <= MAX_UNWANTED;
}
