import { describe, expect, test } from 'vitest';
import { type Loss, LossRun, losses } from './harness/loss-run.ts';

/**
 * Whatever crashes, freezes or is lost: every write is planned and sent by the owner of its partition, no required
 * endpoint is removed, and in the end the written objects are those of a full recomputation. To repeat one seed or run
 * more of them: `SEED=17` or `SEEDS=500` before `npx vitest run --project unit tests/losses.test.ts`.
 */
const only = process.env.SEED;
/** For each kind of loss. A seed takes about 300 ms and detects endless loops. */
const seedCount = Number(process.env.SEEDS ?? 8);
const firstSeed = Number(process.env.FIRST_SEED ?? 1);
/** Generous, because the machine may be slow. */
const timeLimitMs = 600_000;

describe('a fleet of many processes', () => {
  test('survives crashes, freezes, starts and stops', () => play([]), timeLimitMs);

  test.each(losses)('survives a loss: %s', (loss) => play([loss]), timeLimitMs);

  test('survives all kinds of loss together', () => play(losses), timeLimitMs);
});

async function play(what: readonly Loss[]): Promise<void> {
  const seeds = only === undefined ? Array.from({ length: seedCount }, (_, i) => firstSeed + i) : [Number(only)];
  for (const seed of seeds) {
    const run = new LossRun(seed, what);
    expect(await run.play(), `seed ${seed}: ${run.notes.join('; ')}`).toEqual([]);
  }
}
