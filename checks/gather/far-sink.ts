import { PassThrough } from 'node:stream';
import { isRecord, parseJson } from '../../core/json.js';
import { lastLines } from '../../core/last-lines.js';
import type { Target } from '../../core/target/target.js';
import sinkProgram from '../../host/sink/sink.py';
import type { FarArrival, FarReport } from '../arrivals.js';
import { SCRATCH } from '../scene.js';
import { joinScratchNetwork, leaveScratchNetwork } from './scratch-network.js';

const LIFE_MS = 120_000;
const ANSWER_MS = 10_000;

export interface Dial {
  readonly id: string;
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
  readonly nonce: string;
  readonly deadline: number;
}

/** The far side, in a network namespace of its own. Null answers: it could not be asked. */
export interface FarSink {
  report(): Promise<FarReport | null>;
  dial(attempts: readonly Dial[]): Promise<readonly { id: string; outcome: string }[] | null>;
  close(): Promise<void>;
}

/**
 * Starts the sink and joins it to the host by a veth pair. Its namespace is the process's own: however the verifier
 * ends, its end of the pipe closes, the sink ends, and the kernel takes the namespace and the pair away.
 * @throws Error with the reason where it could not be set up
 */
export async function startFarSink(local: Target): Promise<FarSink> {
  const input = new PassThrough();
  const lines: ((value: unknown) => void)[] = [];
  const command = ['unshare', '--net', '--', '/usr/bin/python3', '-I', '-c', sinkProgram] as const;
  const answer = () =>
    new Promise<unknown>((resolve) => {
      const timer = setTimeout(() => resolve(null), ANSWER_MS);
      lines.push((value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
  const first = answer();
  const onLine = (line: string) => lines.shift()?.(parseJson(line));
  const over = local.exec({ command, input, deadlineMs: LIFE_MS, onLine }).then((result) => {
    for (const waiting of lines.splice(0)) waiting(null);
    return lastLines(result.stderr.toString('utf8'), 1);
  });
  const ask = (question: unknown) => {
    const answered = answer();
    input.write(`${JSON.stringify(question)}\n`);
    return answered;
  };
  const close = async () => {
    input.end();
    await leaveScratchNetwork(local);
    await over;
  };
  const hello = await first;
  if (!isRecord(hello) || typeof hello.pid !== 'number') {
    input.end();
    throw new Error(`the sink did not start: ${(await over) || 'it said nothing'}`);
  }
  try {
    await joinScratchNetwork(local, hello.pid);
    const ready = await ask({ interface: 'eth0', tcp: [...SCRATCH.tcpPorts, 80], udp: SCRATCH.udpPorts });
    if (!isRecord(ready)) throw new Error(`the sink did not get ready: ${await over}`);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    report: async () => readReport(await ask({ report: true })),
    dial: async (connect) => readDials(await ask({ connect })),
    close,
  };
}

function readReport(value: unknown): FarReport | null {
  if (!isRecord(value) || !Array.isArray(value.arrivals) || !Array.isArray(value.echoes)) return null;
  return {
    arrivals: value.arrivals.filter(isArrival),
    echoes: value.echoes.filter((echo): echo is string => typeof echo === 'string'),
  };
}

function isArrival(value: unknown): value is FarArrival {
  if (!isRecord(value)) return false;
  const { protocol, address, port, payload } = value;
  return [protocol, address, payload].every((text) => typeof text === 'string') && typeof port === 'number';
}

function readDials(value: unknown): { id: string; outcome: string }[] | null {
  if (!isRecord(value) || !Array.isArray(value.dialled)) return null;
  return value.dialled.filter(
    (dial): dial is { id: string; outcome: string } =>
      isRecord(dial) && typeof dial.id === 'string' && typeof dial.outcome === 'string',
  );
}
