import { describe, expect, test } from 'vitest';
import { smallScenario } from './exhaustive/states.ts';
import { scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulation.ts';

/** For a first look. The evidence is in the thousands that `npm run simulate` runs. */
const seeds = [1, 2, 3, 4];

describe('a simulated fleet', () => {
  test.each(seeds)('keeps all invariants: seed %d', (seed) => play(seed, false));

  test.each([1, 2])('keeps all invariants with many faults: seed %d', (seed) => play(seed, true));

  test('does the same again for the same seed', async () => {
    const [first, second] = [await timelineOf(5), await timelineOf(5)];
    expect(first.length).toBeGreaterThan(100);
    expect(second).toEqual(first);
  });
});

test('a scenario is the same in another process', () => {
  for (const scenario of [
    smallScenario(40),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((seed) => scenarioOf(seed, { swarm: true })),
  ])
    expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario);
});

test('a failing scenario is shrunk to the events that matter', async () => {
  const scenario = scenarioOf(3, { swarm: false });
  const events = scenario.events.filter(({ kind }) => kind === 'user' || kind === 'steady');
  // Shorter than the time that changes are collected, so that each change of a Pod fails.
  const options = { boundMs: 100 };
  const failed = await simulate({ ...scenario, events, batchPeriodMs: 900 }, options);
  expect(failed.violations[0]?.invariant).toBe('bounded staleness');
  const shrunk = await shrink(failed, options);
  expect(shrunk.violations[0]?.invariant).toBe('bounded staleness');
  expect(shrunk.scenario.events.length).toBeLessThan(4);
  expect(shrunk.scenario.clusters).toBe(1);
});

async function play(seed: number, swarm: boolean): Promise<void> {
  const { violations } = await simulate(scenarioOf(seed, { swarm }));
  expect(violations, `npm run simulate -- --seed ${seed}${swarm ? ' --swarm' : ''} --trace`).toEqual([]);
}

async function timelineOf(seed: number) {
  const { timeline } = await simulate(scenarioOf(seed, { swarm: true }), { timeline: 5_000 });
  return timeline;
}
