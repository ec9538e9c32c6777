import { execa } from 'execa';
import { Failure } from '../core/failure.js';
import { EXIT } from '../core/outcome.js';

export interface ToolResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface ToolOptions {
  readonly input?: string;
  readonly deadlineMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

const DEADLINE_MS = 30_000;
/** What a shell says for a program that is not there. */
const NOT_FOUND = 127;

/** Runs one of the machine's own short-lived tools, and answers with whatever it did. Deadline: 30 s unless given. */
export async function tryTool(command: readonly [string, ...string[]], options: ToolOptions = {}): Promise<ToolResult> {
  const [program, ...args] = command;
  const result = await execa(program, args, {
    reject: false,
    timeout: options.deadlineMs ?? DEADLINE_MS,
    killSignal: 'SIGKILL',
    env: { LC_ALL: 'C', PATH: toolPath(), ...options.environment },
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  });
  const failed = result.exitCode === undefined;
  const note = failed ? (result.originalMessage ?? result.shortMessage ?? '') : '';
  return {
    status: result.exitCode ?? (result.code === 'ENOENT' ? NOT_FOUND : -1),
    stdout: String(result.stdout ?? ''),
    stderr: [String(result.stderr ?? ''), note].filter(Boolean).join('\n'),
  };
}

/** Runs a tool that has to succeed. @throws Failure with what the tool said */
export async function tool(command: readonly [string, ...string[]], options: ToolOptions = {}): Promise<string> {
  const result = await tryTool(command, options);
  if (result.status === 0) return result.stdout;
  if (result.status === NOT_FOUND) throw missingTool(command[0]);
  const said = result.stderr.trim() || result.stdout.trim() || `it ended with status ${result.status}`;
  throw new Failure(`${command.join(' ')}: ${said}`, EXIT.couldNotTell);
}

/** Administrators' programs may be missing from the PATH of a plain `su`. */
export function toolPath(): string {
  return `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`;
}

const PACKAGE_OF: Readonly<Record<string, string>> = {
  ip: 'iproute2',
  nsenter: 'util-linux',
  'ssh-keygen': 'openssh-client',
};

function missingTool(program: string): Failure {
  const name = PACKAGE_OF[program] ?? program;
  return new Failure(`${program} is not installed`, EXIT.couldNotTell, `apt-get install ${name}`);
}
