import { expect, test } from 'vitest';
import { runTwice } from '../run-twice.ts';
import { scenarioOf } from '../scenario.ts';
import { suiteNames, suiteOf } from './suite-kinds.ts';

const cases = suiteNames.flatMap((suite) => [1, 2, 3, 4].map((seed) => [suite, seed] as const));

/** For a first look, as in simulation.test.ts. */
test.each(cases)('%s: seed %d keeps all invariants, and does the same again', async (suite, seed) => {
  const { violations } = await runTwice(scenarioOf(seed, { swarm: false, suite }));
  expect(violations, `npm run simulate -- --suite '${suite}' --seed ${seed} --trace`).toEqual([]);
});

test('a thousand seeds run every suite', () => {
  const run = Array.from({ length: 1_000 }, (_, seed) => suiteOf(seed)).filter((suite) => suite !== undefined);
  for (const name of suiteNames) expect(run.filter((suite) => suite === name).length).toBeGreaterThan(20);
});
