import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { partitions, startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';

/**
 * The store keeps nothing of deleted Services. To repeat one seed: `SEED=17 npx vitest run --project unit
 * tests/churn.test.ts`.
 */
const seeds = process.env.SEED === undefined ? Array.from({ length: 20 }, (_, i) => i + 1) : [Number(process.env.SEED)];
const resources = ['services', 'pods', 'endpoints', 'endpointslices', 'nodes'] as const;

test.each(seeds)('the store keeps nothing of deleted Services: seed %d', (seed) => play(seed));

async function play(seed: number): Promise<void> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  const user = new RandomUser(server, seededRandom(seed + 2), clock);
  const store = new MemoryStore();
  const fleet = startFleet({ server, clock, seed, store });
  for (let round = 0; round < 3; round++) {
    user.createInitialObjects();
    for (let step = 0; step < 30; step++) {
      user.step();
      await advance(clock, step % 3 === 0 ? 3_000 : 5);
    }
    removeAll(server);
    await advance(clock, 300_000);
    removeAll(server);
    await advance(clock, 300_000);
    expect(kept(store)).toEqual([]);
  }
  await fleet.stop();
}

function removeAll(server: FakeApiServer): void {
  for (const resource of resources) {
    for (const { metadata } of server.list(resource).items) {
      server.delete(resource, metadata.namespace ?? '', metadata.name, { gracePeriodSeconds: 0 });
    }
  }
}

/** Entries of the store that belong to a Service. Each partition also has a few entries of its own. */
function kept(store: MemoryStore): string[] {
  const scopes = Array.from({ length: partitions }, (_, i) => [`reconciler/${i}`, `writer/${i}`]).flat();
  return scopes.flatMap((scope) =>
    store.peek(scope).entries.flatMap(({ key, field }) => {
      const perPartition =
        ['lastChange', 'formatVersion'].includes(field) ||
        key === 'partition' ||
        (key === 'plans' && field === 'completed');
      return perPartition ? [] : [`${scope} ${key} ${field}`];
    }),
  );
}
