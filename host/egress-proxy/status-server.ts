import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { renderMetrics } from './metrics.js';
import type { ProxyStatus } from './status.js';

/** Who asks is the operator's own: a scraper, a person. More at once would be a mistake. */
const MAX_CONNECTIONS = 16;
/** Its owner and its group (unix(7): connecting needs the permission to write). */
const SOCKET_MODE = 0o660;

const PAGES: Readonly<Record<string, { readonly type: string; readonly render: (status: ProxyStatus) => string }>> = {
  '/metrics': { type: 'text/plain; version=0.0.4; charset=utf-8', render: renderMetrics },
  '/status': { type: 'application/json', render: (status) => `${JSON.stringify(status, null, 2)}\n` },
};

function answer(status: () => ProxyStatus): RequestListener {
  return (request, response) => {
    const page = Object.hasOwn(PAGES, request.url ?? '') ? PAGES[request.url ?? ''] : undefined;
    const reads = request.method === 'GET' || request.method === 'HEAD';
    request.resume();
    if (page === undefined) response.writeHead(404).end(`one of ${Object.keys(PAGES).join(', ')}\n`);
    else if (!reads) response.writeHead(405, { allow: 'GET, HEAD' }).end();
    else response.writeHead(200, { 'content-type': page.type }).end(page.render(status()));
  };
}

/**
 * Answers over HTTP on a unix socket: `/metrics` as Prometheus text, `/status` as JSON. It never keeps the process
 * alive. What lies at the path from an earlier process is replaced.
 *
 * @returns what closes it
 */
export async function serveStatus(path: string, status: () => ProxyStatus): Promise<() => void> {
  const server = createServer(answer(status));
  server.maxConnections = MAX_CONNECTIONS;
  server.keepAliveTimeout = 1000;
  server.unref();
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  server.on('error', () => {});
  await chmod(path, SOCKET_MODE);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
