import t from 'tap';
import { sums } from '../../scripts/testing/steps.mjs';

t.test('the sums of a test run', (t) => {
  const cases = [
    { says: '# { total: 64, pass: 64 }', is: { total: 64, passed: 64, failed: 0 }, why: 'all passed' },
    { says: '# { total: 2, pass: 1, fail: 1 }', is: { total: 2, passed: 1, failed: 1 }, why: 'one failed' },
    {
      says: '# { total: 4, pass: 1, todo: 1, skip: 2 }',
      is: { total: 4, passed: 1, failed: 3 },
      why: 'skipped is not passed',
    },
    { says: '# { total: 1, pass: 0, skip: 1 }', is: { total: 1, passed: 0, failed: 1 }, why: 'a file without a test' },
    { says: '', is: { total: 0, passed: 0, failed: 0 }, why: 'tap never came to its end' },
    { says: '    # { total: 9, pass: 9 }', is: { total: 0, passed: 0, failed: 0 }, why: 'a test printed that, inside' },
  ];
  for (const { says, is, why } of cases) t.same(sums(`TAP version 14\nok 1 - a\n${says}\n# time=1ms\n`), is, why);
  t.end();
});
