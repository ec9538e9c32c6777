import { tool, tryTool } from './process.js';

const DEADLINE_MS = 10 * 60_000;

/**
 * Installs on this machine what a lab needs and the machine lacks, after saying so.
 * @param wanted each program with the Debian package that brings it
 */
export async function ensureMachinePackages(
  wanted: Readonly<Record<string, string>>,
  onProgress: (text: string) => void,
): Promise<void> {
  const missing: string[] = [];
  for (const [program, name] of Object.entries(wanted)) {
    const found = await tryTool(['sh', '-c', 'command -v "$1"', 'sh', program]);
    if (found.status !== 0) missing.push(name);
  }
  if (missing.length === 0) return;
  onProgress(`installing on this machine: ${missing.join(' ')}`);
  const options = {
    deadlineMs: DEADLINE_MS,
    environment: { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'a' },
  };
  const lock = ['-o', 'DPkg::Lock::Timeout=300'] as const;
  await tool(['apt-get', '-q', ...lock, 'update'], options);
  await tool(['apt-get', '-q', ...lock, 'install', '--yes', '--no-install-recommends', ...missing], options);
}
