import { expect, test } from 'vitest';
import { Violations } from '../violations.ts';
import { same } from './model-check.ts';
import { modelChecks, runModelCheck, runModelChecks } from './model-checks.ts';

const found = async (check: Parameters<typeof runModelCheck>[0], seed: number) => {
  const violations = new Violations(() => 0);
  await runModelCheck(check, seed, violations);
  return violations.all;
};

/** For a first look. The evidence is in the thousands of seeds that `npm run simulate` runs. */
test.each(modelChecks.map((check) => [check.invariant, check] as const))('%s', async (_, check) => {
  for (let seed = 1; seed <= 8; seed++) expect(await found(check, seed), `seed ${seed}`).toEqual([]);
});

test('a wrong answer and an exception fail a check', async () => {
  const invariant = 'sums are right';
  const wrong = { invariant, run: () => same('1 + 1', 3, 2) };
  expect(await found(wrong, 1)).toMatchObject([{ invariant, what: '1 + 1: 3 instead of 2' }]);
  const failing = {
    invariant,
    run: () => {
      throw new TypeError('no sum');
    },
  };
  expect(await found(failing, 1)).toMatchObject([{ invariant, what: expect.stringContaining('TypeError: no sum') }]);
});

test('a seed runs some of the checks', async () => {
  expect((await runModelChecks(1)).all).toEqual([]);
});
