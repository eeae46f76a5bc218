import { describe, expect, test } from 'vitest';
import { SeededRun, type Trouble } from './harness/seeded-run.ts';

/**
 * Whatever users and failing servers do: once it is over, what is written is what a full recomputation would write.
 * To play one seed again, or more of them: `SEED=17` or `SEEDS=500` before
 * `npx vitest run --project unit tests/convergence.test.ts`.
 */
const only = process.env.SEED;
/** Some ten seconds; each seed notices by itself if it spins. */
const seedCount = Number(process.env.SEEDS ?? 200);
/** Generous: a slow machine is no failure. */
const timeLimitMs = 300_000;

describe('convergence on a simulated cluster', () => {
  test('under failing requests, cut watches, compactions and restarts', () => play(seedCount, 'cluster'), timeLimitMs);

  test(
    'under Changes that come twice and late',
    () => play(seedCount / 2, { lose: 0, repeat: 0.3, repeatWithin: 5 }),
    timeLimitMs,
  );

  test(
    'under lost Changes, after a resync',
    () => play(seedCount / 2, { lose: 0.2, repeat: 0.2, repeatWithin: 5 }),
    timeLimitMs,
  );
});

async function play(count: number, trouble: Trouble): Promise<void> {
  const seeds = only === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(only)];
  for (const seed of seeds) expect(await new SeededRun(seed, trouble).play(), `seed ${seed}`).toEqual([]);
}
