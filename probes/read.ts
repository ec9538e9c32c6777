/** What one tool said: its text and its status; or that it is not there, or the file that it was to be asked about. */
export type Output =
  | { readonly kind: 'said'; readonly status: number; readonly text: string }
  | { readonly kind: 'no-tool' }
  | { readonly kind: 'no-file' };

/** What the script said to one question. */
export type Answer =
  | { readonly kind: 'answered'; readonly outputs: ReadonlyMap<string, Output> }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** Bytes that the script keeps of what a question is answered: as many say that there were more. */
export const ANSWER_BYTES = 2400;

function unanswered(reason: string): Answer {
  return { kind: 'unanswered', reason };
}

/** Reads the marks of one answer. A second output of one key (the retry) replaces the first. */
function readAnswer(id: string, bytes: Buffer, prefix: string): Answer {
  const outputs = new Map<string, Output>();
  let open: { readonly key: string; readonly lines: string[] } | null = null;
  let answered = false;
  for (const line of bytes.toString('utf8').split('\n')) {
    if (!line.startsWith(prefix)) {
      open?.lines.push(line);
      continue;
    }
    const [verb, key = '', status = ''] = line.slice(prefix.length).split(' ');
    if (verb === 'output' && open === null) open = { key, lines: [] };
    else if (verb === 'status' && open?.key === key && /^\d{1,3}$/.test(status)) {
      outputs.set(key, { kind: 'said', status: Number(status), text: open.lines.join('\n').trim() });
      open = null;
    } else if ((verb === 'no-tool' || verb === 'no-file') && open === null) outputs.set(key, { kind: verb });
    else if (verb === 'answered' && open === null && key === id && !answered) answered = true;
    else return unanswered('its answer came back garbled');
  }
  if (answered) return { kind: 'answered', outputs };
  const didTooMuch = bytes.length >= ANSWER_BYTES ? 'said too much' : 'took too long';
  return unanswered(`the programs that are asked for it ${didTooMuch}`);
}

/** Picks our lines out; every other line is an echo of somebody else's and is passed over. */
function readLines(text: string, prefix: string): { answers: Map<string, Answer>; done: string[] } {
  const answers = new Map<string, Answer>();
  const done: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith(prefix)) continue;
    const [verb, id = '', encoded = ''] = line.slice(prefix.length).split(' ');
    if (verb === 'done') done.push(id);
    if (verb !== 'answer') continue;
    const decoded = Buffer.from(encoded, 'base64');
    // Two answers to one question are none.
    answers.set(id, answers.has(id) ? unanswered('it was answered twice') : readAnswer(id, decoded, prefix));
  }
  return { answers, done };
}

/**
 * Reads what probes/prerequisites.sh printed. Whatever is cut off, garbled or told twice is unanswered; it never throws.
 * @param nonce the one that this run of the script was given
 * @param ids the questions that were asked
 */
export function readAnswers(stdout: Buffer, nonce: string, ids: readonly string[]): ReadonlyMap<string, Answer> {
  const { answers, done } = readLines(stdout.toString('utf8'), `@${nonce}@ `);
  if (done.length !== 1 || done[0] !== String(ids.length)) {
    const cutOff = unanswered('the probe was cut off before its end');
    return new Map(ids.map((id) => [id, cutOff]));
  }
  return new Map(ids.map((id) => [id, answers.get(id) ?? unanswered('it was not answered')]));
}
