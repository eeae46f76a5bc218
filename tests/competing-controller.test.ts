import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { slicesOf } from './harness/what-should-be.ts';

/** Another writer of the same objects: it empties the slices of one Service as often as Sluice fills them. */

let clock: VirtualClock;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let fleet: Fleet;
let rivalWrites: number;
let isRivalOn: boolean;
let found: string[];

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services: 2, podsPerService: 3 });
  rivalWrites = 0;
  isRivalOn = false;
  found = [];
  const competingControllers = {
    ownManager: 'sluice',
    onCompetingWrite: (_plan: unknown, { object }: { readonly object: string }) => void found.push(object),
  };
  fleet = startFleet({ server, clock, seed: 2, writable: { competingControllers } });
  await advance(clock, 5_000);
});

afterEach(() => fleet.stop());

const contestedSlice = () =>
  server
    .list('endpointslices')
    .items.find(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === population.services[0]?.name);

/** Empties the slice whenever it is not empty. */
async function fightFor(ms: number): Promise<void> {
  for (const until = clock.now() + ms; clock.now() < until; ) {
    const slice = contestedSlice();
    const endpoints = (slice as { endpoints?: readonly unknown[] } | undefined)?.endpoints ?? [];
    if (isRivalOn && slice !== undefined && endpoints.length > 0) {
      server.update('endpointslices', { ...slice, endpoints: [] });
      rivalWrites++;
    }
    await advance(clock, 100);
  }
}

const isRight = () => {
  const { expected, actual } = slicesOf(server);
  return JSON.stringify(expected) === JSON.stringify(actual);
};

test('is met ever more slowly, is found, and delays nothing else; once it is gone all is put right', async () => {
  isRivalOn = true;
  await fightFor(10 * 60_000);
  // Once a second it would have been 600.
  expect(rivalWrites).toBeGreaterThan(10);
  expect(rivalWrites).toBeLessThan(30);
  expect(new Set(found)).toEqual(new Set([`endpointslices bench-0/${contestedSlice()?.metadata.name}`]));
  expect(found.length).toBeGreaterThan(3);
  // Neither a Pod of another Service waits, nor one of this.
  server.put('pods', population.podObject(1, 0, false));
  server.put('pods', population.podObject(0, 0, false));
  await advance(clock, 1_000);
  expect(isRight()).toBe(true);
  await fightFor(60_000);
  isRivalOn = false;
  await advance(clock, 61_000);
  expect(isRight()).toBe(true);
});
