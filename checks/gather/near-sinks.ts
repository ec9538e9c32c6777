import { connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { NearArrival } from '../arrivals.js';
import { type NearSink, PINNED, SCRATCH } from '../scene.js';

export interface NearSinks {
  readonly loopback: readonly NearSink[];
  readonly own: readonly NearSink[];
  /** Every connection taken so far. */
  readonly arrivals: readonly NearArrival[];
  close(): Promise<void>;
}

/** Bytes of a request that are kept to find a nonce in. */
const KEPT_BYTES = 4096;

/**
 * Opens the listeners on the host itself: on loopback, on its own addresses, and where the policy pins listed names.
 * They are open only while a run lasts.
 * @throws Error where an address is taken by another program
 */
export async function openNearSinks(): Promise<NearSinks> {
  const arrivals: NearArrival[] = [];
  const servers: Server[] = [];
  const open = async (family: 4 | 6, address: string, port: number): Promise<NearSink> => {
    const server = createServer({ allowHalfOpen: true }, (socket) => answer(socket, arrivals, address, port));
    servers.push(server);
    const bound = await listen(server, address, port);
    return { family, address, port: bound };
  };
  const close = async () => {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  };
  try {
    const loopback = [await open(4, '127.0.0.1', 0), ...(await unlessOff(() => open(6, '::1', 0)))];
    const own: NearSink[] = [];
    for (const { family, address } of ownAddresses()) {
      if (family === 4) own.push(await open(family, address, 0));
      else own.push(...(await unlessOff(() => open(family, address, 0))));
    }
    await open(4, PINNED.address, PINNED.ports.http);
    await open(4, PINNED.address, PINNED.ports.tunnel);
    return { loopback, own, arrivals, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where a host has IPv6 switched off, its loopback and its own addresses of that family are not there to be reached. */
async function unlessOff(open: () => Promise<NearSink>): Promise<readonly NearSink[]> {
  try {
    const sink = await open();
    return (await reachable(sink)) ? [sink] : [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return [];
    throw error;
  }
}

function reachable({ address, port }: NearSink): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 1000 }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('timeout', () => socket.destroy());
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

/** The host's own addresses: the first of each family on a real interface, and our end of the scratch network. */
function ownAddresses(): { family: 4 | 6; address: string }[] {
  const all = Object.entries(networkInterfaces())
    .filter(([name]) => name !== SCRATCH.interface)
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const first = (family: 'IPv4' | 'IPv6') => all.find((entry) => entry.family === family)?.address;
  const found: { family: 4 | 6; address: string }[] = [
    { family: 4, address: SCRATCH.host4 },
    { family: 6, address: SCRATCH.host6 },
  ];
  const [real4, real6] = [first('IPv4'), first('IPv6')];
  if (real4 !== undefined) found.push({ family: 4, address: real4 });
  if (real6 !== undefined) found.push({ family: 6, address: real6 });
  return found;
}

/** Gives back the first line; to an HTTP request, an answer that holds its path. */
function answer(socket: Socket, arrivals: NearArrival[], address: string, port: number): void {
  const arrival: NearArrival = { address, port: localPort(socket, port), data: '' };
  arrivals.push(arrival);
  socket.setTimeout(5000, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    if (arrival.data.length >= KEPT_BYTES) return;
    arrival.data += chunk.toString('latin1');
    if (arrival.data.startsWith('GET ')) answerHttp(socket, arrival.data);
    else if (arrival.data.includes('\n')) socket.end(arrival.data);
  });
  socket.on('end', () => socket.end());
}

function answerHttp(socket: Socket, request: string): void {
  if (!request.includes('\r\n\r\n')) return;
  const body = request.slice(4, request.indexOf(' ', 4));
  const head = ['HTTP/1.1 200 OK', 'Content-Type: text/plain', `Content-Length: ${body.length}`, 'Connection: close'];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function localPort(socket: Socket, port: number): number {
  return port === 0 ? (socket.localPort ?? 0) : port;
}

function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const said = `the verifier cannot listen on ${address}:${port}: ${error.code ?? error.message}`;
      reject(Object.assign(new Error(said), { code: error.code }));
    });
    server.listen({ host: address, port, backlog: 128 }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}
