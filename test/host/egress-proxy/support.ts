import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { DecisionLine } from '../../../host/egress-proxy/decision-line.js';
import { compilePolicy } from '../../../host/egress-proxy/policy.js';
import type { PolicyFile } from '../../../host/egress-proxy/policy-file.js';
import { createProxy, type EgressProxy, type ProxyOptions } from '../../../host/egress-proxy/server.js';

/** A listener on loopback that counts arrivals. */
export interface Sink {
  readonly port: number;
  readonly arrivals: () => number;
  readonly close: () => void;
}

export async function sink(serve: (socket: Socket) => void, host = '127.0.0.1'): Promise<Sink> {
  let arrivals = 0;
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    arrivals += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    serve(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  return {
    port: address.port,
    arrivals: () => arrivals,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Sends back what it gets, and ends when its peer ends. */
export const echo = (socket: Socket): void => {
  socket.pipe(socket);
};

export function policyFile(part: Partial<PolicyFile>): PolicyFile {
  return { version: 1, tenant: 'acme', mode: 'enforce', allow: [], pins: [], ...part };
}

/** Policy that pins `*.sink.test` to loopback on these ports. */
export function pinned(ports: readonly number[], part: Partial<PolicyFile> = {}): PolicyFile {
  return policyFile({ ...part, pins: [{ name: '*.sink.test', address: '127.0.0.1', ports }] });
}

export interface Running {
  readonly proxy: EgressProxy;
  readonly port: number;
  readonly lines: DecisionLine[];
  readonly decisions: () => DecisionLine[];
}

export async function running(file: PolicyFile, options: Partial<ProxyOptions> = {}): Promise<Running> {
  const lines: DecisionLine[] = [];
  const proxy = createProxy({
    policy: compilePolicy(file),
    writeLine: (line) => lines.push(JSON.parse(line)),
    ...options,
  });
  const { port } = await proxy.listen({ host: '127.0.0.1', port: 0 });
  return { proxy, port, lines, decisions: () => lines.filter((line) => line.event === 'decision') };
}

/** Ends a proxy and its far sides. */
export function closeAll(proxy: EgressProxy, far: readonly { readonly close: () => unknown }[]): Promise<void> {
  proxy.cut();
  for (const one of far) one.close();
  return proxy.drain();
}

/** Sends bytes, ends if asked, and collects everything until the peer closes. */
export function talk(port: number, bytes: string | Buffer, end = false): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      if (end) socket.end(bytes);
      else socket.write(bytes);
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
}

/** A socket that reads in steps. */
export class Line {
  #received = Buffer.alloc(0);
  #ended = false;
  readonly #wake = new Set<() => void>();
  constructor(readonly socket: Socket) {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#stir();
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#stir();
      });
    }
  }

  static async to(port: number): Promise<Line> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const line = new Line(socket);
    await once(socket, 'connect');
    return line;
  }

  #stir(): void {
    for (const wake of this.#wake) wake();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#ended) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wake.delete(wake);
          resolve();
        };
        this.#wake.add(wake);
      });
    }
  }

  /** Everything up to and with the mark; all that came where it never comes. */
  async upTo(mark: string): Promise<string> {
    await this.#until(() => this.#received.includes(mark));
    const at = this.#received.indexOf(mark);
    return this.#take(at === -1 ? this.#received.length : at + mark.length).toString('latin1');
  }

  async bytes(count: number): Promise<Buffer> {
    await this.#until(() => this.#received.length >= count);
    return this.#take(count);
  }

  async toEnd(): Promise<Buffer> {
    await this.#until(() => false);
    return this.#take(this.#received.length);
  }

  #take(count: number): Buffer {
    const taken = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return taken;
  }
}

/** A tunnel that stands, behind its 200. */
export async function tunnelTo(proxyPort: number, authority: string): Promise<Line> {
  const line = await Line.to(proxyPort);
  line.socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const head = await line.upTo('\r\n\r\n');
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`no tunnel: ${head}`);
  return line;
}

/** Waits for an effect; fails after a generous time. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never: ${what}`);
}

/** Machine reason of an answer; empty where there is none. */
export function reasonOf(answer: Buffer | string): string {
  return /^x-watertight-reason: (.*)\r$/im.exec(answer.toString('latin1' as BufferEncoding))?.[1] ?? '';
}

export function statusOf(answer: Buffer | string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1' as BufferEncoding))?.[1] ?? 0);
}
