import { withoutComments } from './stages.js';
import type { ExecRequest, Upload } from './target.js';
import upload from './upload.sh';

const UPLOAD = withoutComments(upload);

/** The request that places a file on a target. It needs no SFTP, and becomes root as any other. */
export function uploadRequest(file: Upload): ExecRequest {
  const mode = (file.mode & 0o7777).toString(8);
  return {
    command: ['/bin/sh', '-c', UPLOAD, 'watertight', file.path, mode, String(file.content.length)],
    input: file.content,
    deadlineMs: file.deadlineMs,
    ...(file.become === undefined ? {} : { become: file.become }),
  };
}
