import { FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore, type ScopeState } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';

let clock: VirtualClock;
let server: FakeApiServer;
let population: Population;
let store: MemoryStore;

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services: 10, podsPerService: 2 });
  store = new MemoryStore();
  const fleet = start(1);
  await advance(clock, 20_000);
  await fleet.stop();
});

const start = (fencingToken: number): Fleet =>
  startFleet({ server, clock, seed: 3, store, fencingToken, storesPublishedState: true, comparePeriodMs: 60_000 });

const scopes = () => ['reconciler/0', 'reconciler/1', 'writer/0', 'writer/1', `watcher/${server.identity}`];

/** Changes what a scope has stored. An undefined value removes the entry. */
async function rewrite(
  scope: string,
  change: (entries: ScopeState['entries']) => readonly { key: string; field: string; value: unknown }[],
): Promise<void> {
  const { checkpoint, entries } = await store.claim(scope, 2);
  if (checkpoint === null) throw new Error(`nothing in ${scope}`);
  await store.commit({
    scope,
    fencingToken: 2,
    expectedOffset: checkpoint.offset,
    checkpoint,
    entries: change(entries),
  });
}

/** Every Service becomes partly not ready; returns how many slices show it a minute later. */
async function slicesRightAfterRestart(): Promise<number> {
  const fleet = start(3);
  await advance(clock, 10_000);
  for (let i = 0; i < 10; i++) server.put('pods', population.podObject(i, 0, false));
  await advance(clock, 60_000);
  await fleet.stop();
  const slices = server.list('endpointslices').items as unknown as readonly {
    readonly endpoints?: readonly { readonly conditions: { readonly ready: boolean } }[];
  }[];
  return slices.filter(({ endpoints = [] }) => endpoints.some(({ conditions }) => !conditions.ready)).length;
}

test.each([
  ['a controller that another version stored as null', 'controller/endpoints', null],
  ['a slice that another version stored as text', 'slice/x', 'compressed:…'],
  ['Endpoints that another version stored as a list', 'endpoints', [1]],
  ['a field that only another version knows', 'selector', {}],
])('%s costs one Service a resync', async (_, field, value) => {
  const key = `${server.identity}/bench-0/svc-00003`;
  for (const scope of ['reconciler/0', 'reconciler/1']) {
    await rewrite(scope, (entries) => (entries.some((entry) => entry.key === key) ? [{ key, field, value }] : []));
  }
  expect(await slicesRightAfterRestart()).toBe(10);
});

test.each([0, 1, 2, 3, 4])('what a newer version has stored is discarded and rebuilt (scope %d)', async (i) => {
  const scope = scopes()[i] ?? '';
  await rewrite(scope, () => [
    { key: 'scope', field: 'formatVersion', value: 99 },
    { key: 'x', field: 'y', value: 'z' },
  ]);
  expect(await slicesRightAfterRestart()).toBe(10);
  const { entries } = store.peek(scope);
  expect(entries.map(({ key }) => key)).not.toContain('x');
  expect(entries.find(({ field }) => field === 'formatVersion')?.value).not.toBe(99);
});

test('values of a wrong type in every field of every scope are discarded and rebuilt', async () => {
  for (const scope of scopes()) {
    await rewrite(scope, (entries) =>
      entries.map(({ key, field }) => ({ key, field, value: field === 'formatVersion' ? 1 : [field] })),
    );
  }
  expect(await slicesRightAfterRestart()).toBe(10);
});

test('a Service that was deleted while its watcher could not read its state loses its slices', async () => {
  await rewrite(`watcher/${server.identity}`, () => [{ key: 'scope', field: 'formatVersion', value: 99 }]);
  server.delete('services', 'bench-0', 'svc-00003');
  for (const { metadata } of server.list('endpointslices').items) {
    if (metadata.labels?.['kubernetes.io/service-name'] === 'svc-00003') {
      server.delete('endpointslices', 'bench-0', metadata.name);
    }
  }
  const fleet = start(3);
  await advance(clock, 60_000);
  await fleet.stop();
  expect(server.list('endpoints').items.map(({ metadata }) => metadata.name)).not.toContain('svc-00003');
});
