import { expect, test } from 'vitest';
import { difference, runTwice } from './run-twice.ts';
import { scenarioOf } from './scenario.ts';

test('two runs of a seed are equal', async () => {
  expect((await runTwice(scenarioOf(6, { swarm: true }))).violations).toEqual([]);
});

test.each([
  [['a', 'b'], ['a', 'b'], undefined],
  [['a', 'b'], ['a', 'c'], 'entry 2 is "b" in the first run and "c" in the second'],
  [['a', 'b'], ['a'], 'entry 2 is "b" in the first run and "missing" in the second'],
  [['a'], ['a', 'b'], 'entry 2 is "missing" in the first run and "b" in the second'],
])('the first difference of %j and %j', (first, second, expected) => {
  expect(difference(first, second)).toBe(expected);
});
