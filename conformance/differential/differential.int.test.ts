import { afterAll, beforeAll, expect, it } from 'vitest';
import { Pair } from './pair.ts';
import { runSeed } from './run-seed.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start();
});

afterAll(() => pair?.stop());

it('finds no unexplained difference in a short random workload', async () => {
  const result = await runSeed(pair, { seed: 5, steps: 120, checkpoints: 8, maxEndpointsPerSlice: 3 });
  expect(result.differences.join('\n\n')).toBe('');
  expect(result).toMatchObject({ steps: 120, checkpoints: 8 });
  expect(result.compared).toBeGreaterThan(30);
});
