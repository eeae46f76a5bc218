import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { expect, test } from 'vitest';
import { differencesFromExpected, writesOfFreshStart } from './harness/converged.ts';
import { startFleet } from './harness/fleet.ts';
import { observeWrites } from './harness/observe-writes.ts';
import { RandomUser } from './harness/random-user.ts';
import { StallingBus } from './harness/stalling-bus.ts';

/**
 * Ten minutes of churn while a part is down: the backlog is bounded by the number of Services, not by the number of
 * changes, and catching up takes few writes. To repeat one seed: `SEED=17 npx vitest run --project unit
 * tests/backpressure.test.ts`.
 */
const seeds = process.env.SEED === undefined ? [1, 2, 3, 4] : [Number(process.env.SEED)];
const minutes = 10;
const stepMs = 400;
const steps = (minutes * 60_000) / stepMs;
/** Unreleased records per partition of `changes` at which `append` waits. */
const maxBacklog = 100;
const appended = 64;
const controllers = 3;
/** Maximum deliveries of a plan in ten minutes: an overdue one is redelivered after 5, 10, 20, … seconds. */
const sendings = 1 + Math.ceil(Math.log2((minutes * 60) / 5));

type Missing = 'the reconciler' | 'the writer' | 'the cluster';
const cases = seeds.flatMap((seed) =>
  (['the reconciler', 'the writer', 'the cluster'] as const).map((missing) => [missing, seed] as const),
);

test.each(cases)('without %s: seed %d', (missing, seed) => play(missing, seed));

async function play(missing: Missing, seed: number): Promise<void> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  const user = new RandomUser(server, seededRandom(seed + 2), clock);
  const faults = new FaultPlan([], seededRandom(seed + 3));
  let writes = 0;
  let bus: StallingBus | undefined;
  const fleet = startFleet({
    server: observeWrites(
      server,
      () => writes++,
      () => {},
    ),
    clock,
    seed,
    faults,
    maxBacklog,
    wrapBus: (inner) => {
      bus = new StallingBus(inner);
      return bus;
    },
  });
  if (bus === undefined) throw new Error('startFleet did not wrap the bus');
  user.createInitialObjects();
  await advance(clock, 5_000);

  if (missing === 'the reconciler') bus.stall('changes');
  else if (missing === 'the writer') bus.stall('mutations');
  else for (const verb of ['create', 'update', 'delete'] as const) faults.add({ verb, error: 'reset' });
  const names = new Set<string>();
  for (let step = 0; step < steps; step++) {
    user.step();
    for (const resource of ['services', 'endpoints'] as const) {
      for (const { metadata } of server.list(resource).items) names.add(metadata.name);
    }
    await advance(clock, stepMs);
    expect(bus.unread('changes')).toBeLessThanOrEqual(bus.partitions * (maxBacklog + appended));
    expect(bus.unread('mutations')).toBeLessThanOrEqual(names.size * controllers * sendings);
  }
  writes = 0;

  bus.resume();
  faults.clear();
  await advance(clock, 1_200_000);
  expect(writes).toBeLessThan(steps / 10);
  expect(differencesFromExpected(server)).toEqual([]);
  await fleet.stop();
  const fresh = { clock, seed: seed + 4, settings: defaultSettings, onRequest: () => {} };
  expect(await writesOfFreshStart(server, fresh)).toEqual([]);
}
