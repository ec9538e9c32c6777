import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Remembers the proof that stands before a run. What the run proves is of a state that a rollback ends, and the launcher
 * would refuse on it though the host is as it was.
 * @param path of the attestation
 * @returns puts back what stood there, or nothing where nothing did
 */
export function rememberProof(path: string): () => void {
  const before = read(path);
  return () => {
    if (before === null) {
      rmSync(path, { force: true });
      return;
    }
    const candidate = `${path}.${process.pid}`;
    writeFileSync(candidate, before, { mode: 0o644 });
    renameSync(candidate, path);
  };
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
