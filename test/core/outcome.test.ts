import t from 'tap';
import { EXIT, type ExitCode, exitOf, type Verdict } from '../../core/outcome.js';

const cases: readonly { why: string; answers: readonly Verdict[]; exit: ExitCode }[] = [
  { why: 'all proven', answers: ['proven', 'proven'], exit: EXIT.yes },
  { why: 'a no outweighs a could-not-tell', answers: ['proven', 'inconclusive', 'disproved'], exit: EXIT.no },
  { why: 'inconclusive is never a pass', answers: ['proven', 'inconclusive'], exit: EXIT.couldNotTell },
  { why: 'nothing asked is nothing proven', answers: [], exit: EXIT.couldNotTell },
];

t.test('exitOf', async (t) => {
  for (const { why, answers, exit } of cases) t.equal(exitOf(answers), exit, why);
});
