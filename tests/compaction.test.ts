import { FakeApiServer, FakeClient, type Population, populate } from '@sluice/fake-apiserver';
import { randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne } from '@sluice/sluice';
import { expect, test } from 'vitest';

/** To repeat one seed: `SEED=17 npx vitest run --project unit tests/compaction.test.ts`. */
const seeds = process.env.SEED === undefined ? [1, 2, 3] : [Number(process.env.SEED)];
const [services, podsPerService, max] = [6, 40, 10];
const minute = 60_000;

interface Slice {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly targetRef: { readonly name: string } }[] | null;
}

/** Sluice on a fake cluster, and what a client that merges all slices, as kube-proxy does, sees of it. */
function start(seed: number, writesPerHour: number) {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed) });
  const population = populate(server, { services, podsPerService, now: clock.now() });
  const client = new FakeClient(server, { clock });
  const writes: { readonly at: number }[] = [];
  const onWrite: (() => void)[] = [];
  server.onCommit((resource) => {
    if (resource !== 'endpointslices') return;
    writes.push({ at: clock.now() });
    for (const listener of onWrite) listener();
  });
  const run = startAllInOne({
    clusters: [{ name: 'c', identity: server.identity, reader: client, writer: client, record: () => {} }],
    ...{ partitions: 4, clock, random: seededRandom(seed), logger: silentLogger },
    settings: { ...defaultSettings, maxEndpointsPerSlice: max },
    compaction: writesPerHour > 0 ? { writesPerHour, maxEndpointsPerSlice: max } : undefined,
  });
  const slices = () => server.list('endpointslices').items as unknown as Slice[];
  const podsInSlices = () =>
    new Set(slices().flatMap((slice) => (slice.endpoints ?? []).map((one) => one.targetRef.name)));
  return { clock, server, population, run, writes, onWrite, slices, podsInSlices };
}

type World = ReturnType<typeof start>;

/** Deletes 7 of 10 Pods at random, some at a time, which leaves slices partly empty. */
async function churn({ server, population, clock }: World, seed: number): Promise<ReadonlySet<string>> {
  const random = seededRandom(seed + 100);
  const left = new Set(all(population));
  while (left.size > 0.3 * services * podsPerService) {
    for (let n = 0; n < 5; n++) {
      const name = [...left][randomInteger(random, 0, left.size - 1)] ?? '';
      left.delete(name);
      server.delete('pods', 'bench-0', name, { gracePeriodSeconds: 0 });
    }
    await advance(clock, 200);
  }
  await advance(clock, 2_000);
  return left;
}

const all = (population: Population) =>
  Array.from({ length: services }, (_, s) =>
    Array.from({ length: podsPerService }, (_, p) => population.pod(s, p).name),
  ).flat();

/** The fewest slices for these Pods. */
function fewest(left: ReadonlySet<string>): number {
  const byService = Map.groupBy(left, (name) => name.slice(0, name.lastIndexOf('-')));
  return (
    [...byService.values()].reduce((sum, pods) => sum + Math.ceil(pods.length / max), 0) + services - byService.size
  );
}

test.each(seeds)('merges slices in the background without an endpoint missing at any write (seed %i)', async (seed) => {
  const world = start(seed, 1_000);
  await advance(world.clock, 2_000);
  const left = await churn(world, seed);
  expect([...world.podsInSlices()].sort()).toEqual([...left].sort());
  const before = world.slices().length;
  expect(before).toBeGreaterThan(fewest(left));
  world.onWrite.push(() => expect(world.podsInSlices()).toEqual(left));
  await advance(world.clock, 30 * minute);
  // A merge that takes more updates than it deletes slices is left alone.
  expect(world.slices().length).toBeLessThan(before);
  expect(world.slices().length).toBeLessThanOrEqual(fewest(left) + 1);
  // Nothing is left to do, for the controller either.
  const { length } = world.writes;
  await advance(world.clock, 60 * minute);
  expect(world.writes).toHaveLength(length);
  await world.run.stop(0);
});

test.each(seeds)('stays within the writes per hour (seed %i)', async (seed) => {
  const world = start(seed, 8);
  await advance(world.clock, 2_000);
  await churn(world, seed);
  const startedAt = world.clock.now();
  await advance(world.clock, 300 * minute);
  const times = world.writes.map(({ at }) => at).filter((at) => at > startedAt);
  expect(times.length).toBeGreaterThan(8);
  for (const from of times) {
    const inHour = times.filter((at) => at >= from && at < from + 60 * minute).length;
    expect(inHour, `seed ${seed}`).toBeLessThanOrEqual(8);
  }
  await world.run.stop(0);
});

test('leaves slices alone while churn changes them, and if it is off', async () => {
  for (const writesPerHour of [0, 1_000]) {
    const world = start(1, writesPerHour);
    await advance(world.clock, 2_000);
    await churn(world, 1);
    const before = world.slices().length;
    // One Pod per Service comes or goes between any two scans.
    for (let round = 0; writesPerHour > 0 && round < 12; round++) {
      for (let service = 0; service < services; service++) {
        const name = world.population.pod(service, 0).name;
        if (round % 2 === 0) world.server.put('pods', world.population.podObject(service, 0));
        else world.server.delete('pods', 'bench-0', name, { gracePeriodSeconds: 0 });
      }
      await advance(world.clock, 5 * minute);
    }
    if (writesPerHour === 0) await advance(world.clock, 60 * minute);
    expect(Math.abs(world.slices().length - before)).toBeLessThanOrEqual(services);
    expect(world.slices().length).toBeGreaterThanOrEqual(before - 1);
    await world.run.stop(0);
  }
});
