import { describe, expect, test } from 'vitest';
import { type FaultyPart, SeededRun } from './harness/seeded-run.ts';

/**
 * After any actions of users and any faults of servers, the written objects are those of a full recomputation. To
 * repeat one seed or run more of them: `SEED=17` or `SEEDS=500` before `npx vitest run --project unit
 * tests/convergence.test.ts`.
 */
const only = process.env.SEED;
/** About ten seconds. Each seed detects endless loops. */
const seedCount = Number(process.env.SEEDS ?? 200);
/** Generous, because the machine may be slow. */
const timeLimitMs = 300_000;

describe('convergence on a fake cluster', () => {
  test('with failing requests, cut watches, compactions and restarts', () => play(seedCount, 'cluster'), timeLimitMs);

  test(
    'with duplicate and late Changes',
    () => play(seedCount / 2, { lose: 0, repeat: 0.3, repeatWithin: 5 }),
    timeLimitMs,
  );

  test(
    'with lost Changes, after a resync',
    () => play(seedCount / 2, { lose: 0.2, repeat: 0.2, repeatWithin: 5 }),
    timeLimitMs,
  );
});

async function play(count: number, trouble: FaultyPart): Promise<void> {
  const seeds = only === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(only)];
  for (const seed of seeds) expect(await new SeededRun(seed, trouble).play(), `seed ${seed}`).toEqual([]);
}
