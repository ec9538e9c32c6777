import { constants } from 'node:os';
import { execa, type Result } from 'execa';
import { Failure, UsageFailure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';
import { hostCgroups, initPid } from './cgroup.js';
import { enterCommand } from './host/enter.js';
import type { Lab, LabHost } from './lab.js';
import { type Machine, requireRoot } from './machine.js';
import { toolPath } from './process.js';

export interface HostResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface HostExecOptions {
  readonly input?: string | Buffer;
  /** Milliseconds; the whole command is killed then (status 137). Default two minutes. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 120_000;

/** As a shell tells it: the program's own status, or 128 and the number of the signal that ended it. */
export function statusOf({ exitCode, signal }: Pick<Result, 'exitCode' | 'signal'>): number {
  return exitCode ?? 128 + constants.signals[signal ?? 'SIGKILL'];
}

/** Runs a command as root inside a host, without SSH. @throws Failure where the host is not running */
export async function execOnHost(
  machine: Machine,
  lab: Lab,
  host: string,
  command: readonly string[],
  options: HostExecOptions = {},
): Promise<HostResult> {
  const { program, args, environment } = await entering(machine, lab, host, command);
  const result = await execa(program, [...args], {
    reject: false,
    extendEnv: false,
    env: { PATH: toolPath(), ...environment },
    stripFinalNewline: false,
    timeout: options.deadlineMs ?? DEADLINE_MS,
    killSignal: 'SIGKILL',
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  });
  return { status: statusOf(result), stdout: String(result.stdout), stderr: String(result.stderr) };
}

/** The same on this terminal, for a person. @returns the command's status; 128 + n where signal n ended it */
export async function attachToHost(
  machine: Machine,
  lab: Lab,
  host: string,
  command: readonly string[],
): Promise<number> {
  const { program, args, environment } = await entering(machine, lab, host, command);
  return attach(program, args, { PATH: toolPath(), ...environment });
}

/** Logs in as `ops` with the lab's key, as anyone would. @returns ssh's status */
export async function sshToHost(lab: Lab, host: string, command: readonly string[]): Promise<number> {
  const { address } = findHost(lab, host);
  const options = [`UserKnownHostsFile=${lab.knownHosts}`, 'IdentitiesOnly=yes', 'StrictHostKeyChecking=yes'];
  const flags = ['-F', 'none', '-i', lab.identity, ...options.flatMap((option) => ['-o', option])];
  return attach('ssh', [...flags, `ops@${address}`, ...(command.length > 0 ? ['--', ...command] : [])], process.env);
}

async function attach(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const result = await execa(program, [...args], { reject: false, extendEnv: false, env, stdio: 'inherit' });
  if (result.code === 'ENOENT') throw new Failure(`${program} is not installed`, EXIT.couldNotTell);
  return statusOf(result);
}

async function entering(machine: Machine, lab: Lab, name: string, command: readonly string[]) {
  requireRoot('a command inside a host');
  const host = findHost(lab, name);
  const cgroups = hostCgroups(machine, lab.name, host.name);
  const pid = await initPid(cgroups);
  if (pid === null) {
    throw new Failure(`${name} is not running`, EXIT.couldNotTell, `watertight lab up --lab ${lab.name}`);
  }
  return enterCommand(cgroups, pid, command);
}

/** @throws UsageFailure where the lab has no such host */
export function findHost(lab: Lab, name: string): LabHost {
  const host = lab.hosts.find((each) => each.name === name);
  if (host !== undefined) return host;
  throw new UsageFailure(
    `the lab ${lab.name} has no host ${JSON.stringify(name)}`,
    `one of: ${lab.hosts.map((each) => each.name).join(' ')}`,
  );
}
