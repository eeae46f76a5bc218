import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { runWatchCuts } from './run.ts';

/** To repeat one seed: `SEED=17` before `npx vitest run --project unit bench/src/watch-cuts`. */
const seeds = process.env.SEED === undefined ? [1, 2, 3] : [Number(process.env.SEED)];

// Generous, because the machine may be slow.
test.each(seeds)('delivers every change, and none older than the one before (seed %i)', async (seed) => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const faults = new FaultPlan([], seededRandom(seed));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 500 });
  const reader = new FakeClient(server, { clock, faults });
  let over = false;
  const running = runWatchCuts({
    server,
    reader,
    faults,
    clock,
    random: seededRandom(seed + 2),
    seconds: 30,
    changesPerSecond: 20,
  }).finally(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.step();
  }
  const { churned, results } = await running;
  const why = `seed ${seed}: ${JSON.stringify({ churned, results })}`;
  for (const { wrong, wentBack, missing, compared, lists } of Object.values(results)) {
    expect({ wrong, wentBack, missing }, why).toEqual({ wrong: 0, wentBack: 0, missing: 0 });
    expect(compared, why).toBeGreaterThan(200);
    expect(lists, why).toBeGreaterThan(3);
  }
  expect(churned.unseenDeletions, why).toBeGreaterThan(3);
});
