import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { defaultSettings } from '@sluice/service-state';
import { expect, test } from 'vitest';
import { whatAFreshStartWrites, whatIsWrong } from './harness/at-rest.ts';
import { startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';
import { spiedServer } from './harness/spied-server.ts';
import { StallingBus } from './harness/stalling-bus.ts';

/**
 * Ten minutes under churn with somebody missing: what waits is bounded by what there is, not by what happened, and
 * catching up is a few writes. To play one seed again: `SEED=17` before
 * `npx vitest run --project unit tests/backpressure.test.ts`.
 */
const seeds = process.env.SEED === undefined ? [1, 2, 3, 4] : [Number(process.env.SEED)];
const minutes = 10;
const stepMs = 400;
const steps = (minutes * 60_000) / stepMs;
/** Per partition of `changes`, before who appends has to wait. */
const maxBacklog = 100;
const appended = 64;
const controllers = 3;
/** A plan whose Outcome is overdue is sent again after 5, 10, 20, … seconds: so often in ten minutes, at most. */
const sendings = 1 + Math.ceil(Math.log2((minutes * 60) / 5));

type Missing = 'the reconciler' | 'the writer' | 'the cluster';
const cases = seeds.flatMap((seed) =>
  (['the reconciler', 'the writer', 'the cluster'] as const).map((missing) => [missing, seed] as const),
);

/** Generous: a slow machine is no failure. */
const timeLimitMs = 300_000;

test.each(cases)('without %s: seed %d', (missing, seed) => play(missing, seed), timeLimitMs);

async function play(missing: Missing, seed: number): Promise<void> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  const user = new RandomUser(server, seededRandom(seed + 2), clock);
  const faults = new FaultPlan([], seededRandom(seed + 3));
  let writes = 0;
  let bus: StallingBus | undefined;
  const fleet = startFleet({
    server: spiedServer(
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
  if (bus === undefined) throw new Error('no bus');
  user.begin();
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

  bus.goOn();
  faults.clear();
  await advance(clock, 1_200_000);
  expect(writes).toBeLessThan(steps / 10);
  expect(whatIsWrong(server)).toEqual([]);
  await fleet.stop();
  const fresh = { clock, seed: seed + 4, settings: defaultSettings, onRequest: () => {} };
  expect(await whatAFreshStartWrites(server, fresh)).toEqual([]);
}
