import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';

/** A competing controller that empties the slices of one Service whenever Sluice fills them. */

let clock: VirtualClock;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let fleet: Fleet;
let competingWrites: number;
let isCompeting: boolean;
let found: string[];

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services: 2, podsPerService: 3 });
  competingWrites = 0;
  isCompeting = false;
  found = [];
  const competingControllers = {
    ownManager: 'sluice',
    onCompetingWrite: (_plan: unknown, { object }: { readonly object: string }) => void found.push(object),
  };
  fleet = startFleet({ server, clock, seed: 2, writable: { competingControllers } });
  await advance(clock, 5_000);
});

afterEach(() => fleet.stop());

const contendedSlice = () =>
  server
    .list('endpointslices')
    .items.find(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === population.services[0]?.name);

/** Empties the slice whenever it has endpoints. */
async function competeFor(ms: number): Promise<void> {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    const slice = contendedSlice();
    const endpoints = (slice as { endpoints?: readonly unknown[] } | undefined)?.endpoints ?? [];
    if (isCompeting && slice !== undefined && endpoints.length > 0) {
      server.update('endpointslices', { ...slice, endpoints: [] });
      competingWrites++;
    }
    await advance(clock, 100);
  }
}

const isRight = () => {
  const { expected, actual } = slicesOf(server);
  return JSON.stringify(expected) === JSON.stringify(actual);
};

test('backs off against a competing controller, reports it, delays nothing else, and converges once it is gone', async () => {
  isCompeting = true;
  await competeFor(10 * 60_000);
  // One write per second would be 600.
  expect(competingWrites).toBeGreaterThan(10);
  expect(competingWrites).toBeLessThan(30);
  expect(new Set(found)).toEqual(new Set([`endpointslices bench-0/${contendedSlice()?.metadata.name}`]));
  expect(found.length).toBeGreaterThan(3);
  // Changes of the other Service and of this one are written without delay.
  server.put('pods', population.podObject(1, 0, false));
  server.put('pods', population.podObject(0, 0, false));
  await advance(clock, 1_000);
  expect(isRight()).toBe(true);
  await competeFor(60_000);
  isCompeting = false;
  await advance(clock, 61_000);
  expect(isRight()).toBe(true);
});
