import { describe, expect, test } from 'vitest';
import { type Loss, LossRun, losses } from './harness/loss-run.ts';

/**
 * Whatever dies, freezes or is lost: nothing is written that no plan asked for, by nobody who may not, nothing wanted is
 * taken away, and once it is over, what is written is what a full recomputation would write. To play one seed again, or
 * more of them: `SEED=17` or `SEEDS=500` before `npx vitest run --project unit tests/losses.test.ts`.
 */
const only = process.env.SEED;
/** Of each kind; a seed takes some 300 ms and notices by itself if it spins. */
const seedCount = Number(process.env.SEEDS ?? 8);
const firstSeed = Number(process.env.FIRST_SEED ?? 1);
/** Generous: a slow machine is no failure. */
const timeLimitMs = 600_000;

describe('a fleet of many processes', () => {
  test('that die, freeze, come and go', () => play([]), timeLimitMs);

  test.each(losses)('of which something is lost: %s', (loss) => play([loss]), timeLimitMs);

  test('to which everything happens', () => play(losses), timeLimitMs);
});

async function play(what: readonly Loss[]): Promise<void> {
  const seeds = only === undefined ? Array.from({ length: seedCount }, (_, i) => firstSeed + i) : [Number(only)];
  for (const seed of seeds) {
    const run = new LossRun(seed, what);
    expect(await run.play(), `seed ${seed}: ${run.notes.join('; ')}`).toEqual([]);
  }
}
