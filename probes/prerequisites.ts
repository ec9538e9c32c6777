import type { PrerequisiteResult } from '../core/events.js';
import { HOST_QUESTIONS } from './host-questions.js';
import { INSTALLATION_QUESTIONS } from './installation-questions.js';
import { type Context, cannotTell, lookFix, type Phase, type Question } from './question.js';
import type { Answer } from './read.js';
import { TOOL_QUESTIONS } from './tool-questions.js';

/** Every prerequisite, in the order in which a person should mend them. */
export const PREREQUISITES: readonly Question[] = [...HOST_QUESTIONS, ...TOOL_QUESTIONS, ...INSTALLATION_QUESTIONS];

/** The prerequisites of a phase. */
export function questionsFor(phase: Phase): readonly Question[] {
  return PREREQUISITES.filter(({ neededFor }) => neededFor.includes(phase));
}

/** Judges one answer. An answer that did not come is an error, never an absence. */
export function judgeAnswer(question: Question, answer: Answer | undefined, context: Context): PrerequisiteResult {
  const { presence, found, reason, fix } =
    answer?.kind === 'answered'
      ? question.judge(answer.outputs, context)
      : cannotTell(answer?.reason ?? 'it was not asked');
  if (presence === 'present') return { id: question.id, presence, found, reason, fix: null };
  const mend = fix ?? (presence === 'absent' ? question.fix : lookFix(question.look));
  return { id: question.id, presence, found, reason, fix: mend(context) };
}
