import { expect, test } from 'vitest';
import { readResults } from './busy-results.ts';

const test1 = (status: string, ...failureMessages: string[]) => ({ fullName: `is ${status}`, status, failureMessages });
const file = (name: string, status: string, message: string, ...assertionResults: object[]) => ({
  ...{ name, status, message, assertionResults },
});
const results = (...testResults: object[]) => readResults(() => JSON.stringify({ testResults }), false);

test('counts tests, and names those that failed', () => {
  const one = file('a.test.ts', 'failed', '', test1('passed'), test1('failed', 'expected 1\nat'), test1('pending'));
  const failures = ['a.test.ts: is failed: expected 1'];
  expect(results(one, file('b.test.ts', 'passed', '', test1('passed')))).toEqual({ passed: 2, skipped: 1, failures });
});

test('counts a file whose hook failed, also if none of its tests ran', () => {
  const failures = ['a.test.ts: no server'];
  expect(results(file('a.test.ts', 'failed', 'no server\nat', test1('skipped')))).toMatchObject({
    passed: 0,
    failures,
  });
});

test.each([
  ['without results', () => 'x', 'vitest wrote no results'],
  ['without a failed test', () => '{"testResults":[]}', 'vitest failed without a failed test'],
])('a run that failed %s counts as a failure', (_, read, failure) => {
  expect(readResults(read, false).failures).toEqual([failure]);
});
