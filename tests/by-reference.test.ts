import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { differencesFromExpected } from './harness/converged.ts';
import { startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';
import { referenceCheck } from './harness/reference-check.ts';

/**
 * All-in-one delivers messages by reference (ADR 0028), so none may contain what an encoded one would not, and nobody may
 * change one. The simulation encodes all messages.
 */
const seeds = [1, 2, 3, 4, 5, 6];

test.each(seeds)('messages are the same by reference as encoded, and nobody changes one: seed %d', async (seed) => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  const user = new RandomUser(server, seededRandom(seed + 2), clock);
  const differing: string[] = [];
  const fleet = startFleet({
    ...{ server, clock, seed, byReference: true },
    wrapBus: (bus) => referenceCheck(bus, (difference) => differing.push(difference)),
  });
  user.createInitialObjects();
  for (let step = 0; step < 60; step++) {
    user.step();
    await advance(clock, step % 3 === 0 ? 3_000 : 5);
  }
  await advance(clock, 60_000);
  expect(differing).toEqual([]);
  expect(differencesFromExpected(server)).toEqual([]);
  await fleet.stop();
});
