import { type ExecResult, succeeded, type Target } from '../../core/target/target.js';
import { type Operation, octal, QUICK_MS } from '../../profiles/resources/change.js';
import { describeResult } from './describe-result.js';

const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } as const;

/**
 * Carries an operation out as root.
 * @returns null where it succeeded, otherwise why it did not
 */
export async function perform(
  target: Target,
  operation: Operation,
  onLine: (line: string) => void = () => {},
): Promise<string | null> {
  return operation.do === 'run' ? runProgram(target, operation, onLine) : writeFile(target, operation);
}

async function runProgram(
  target: Target,
  { command, input, deadlineMs, accept, progress }: Extract<Operation, { do: 'run' }>,
  onLine: (line: string) => void,
): Promise<string | null> {
  const result = await target.exec({
    command,
    deadlineMs,
    become: true,
    environment: ENVIRONMENT,
    ...(input === undefined ? {} : { input }),
    ...(progress ? { onLine: distinctly(onLine) } : {}),
  });
  const { outcome } = result;
  if (outcome.kind === 'exited' && (outcome.status === 0 || accept?.includes(outcome.status))) return null;
  return `${command[0]}: ${describeResult(result)}`;
}

/** Of all that apt says: how much it fetches, one line a package, what it waits for, and what goes wrong. */
const WORTH_SAYING = /^(?:Need to get |Setting up |Removing |waiting |Waiting |W: |E: |dpkg: |these need )/;

/** Passes on what is worth saying, once: apt repeats every second that it waits. */
function distinctly(onLine: (line: string) => void): (line: string) => void {
  let last = '';
  return (line) => {
    if (line === last || !WORTH_SAYING.test(line)) return;
    last = line;
    onLine(line);
  };
}

/**
 * Places a file whole or not at all. One that is not root's own, or that a program has to accept first, is made ready
 * under another name (which neither systemd nor sudo reads) and renamed.
 */
async function writeFile(target: Target, file: Extract<Operation, { do: 'write' }>): Promise<string | null> {
  const { path, content, mode, owner, group, check } = file;
  const plain = owner === 'root' && group === 'root' && check === undefined;
  const place = plain ? path : `${path}.candidate`;
  const upload = await target.upload({ path: place, content, mode, become: true, deadlineMs: QUICK_MS });
  if (!succeeded(upload)) return describeResult(upload);
  if (plain) return null;
  const steps: readonly (readonly [string, ...string[]])[] = [
    ['chown', '--', `${owner}:${group}`, place],
    ['chmod', '--', octal(mode), place],
    ...(check ? [[...check, place] as const] : []),
    ['mv', '-fT', '--', place, path],
  ];
  for (const command of steps) {
    const failure = await runProgram(target, { do: 'run', command, deadlineMs: QUICK_MS }, () => {});
    if (failure === null) continue;
    await quietly(target.exec({ command: ['rm', '-f', '--', place], deadlineMs: QUICK_MS, become: true }));
    return failure;
  }
  return null;
}

/** Tidying up after a failure: the failure is what counts. */
async function quietly(result: Promise<ExecResult>): Promise<void> {
  await result;
}
