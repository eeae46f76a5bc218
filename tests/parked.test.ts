import { findByName, findParked, matchesFilter, type ParkedKey } from '@sluice/console';
import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { retryParked } from '@sluice/sluice';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';

const startedAt = Date.parse('2026-01-01T00:00:00Z');
let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let fleet: Fleet;

beforeEach(async () => {
  clock = new VirtualClock(startedAt);
  faults = new FaultPlan();
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: 'shop' } });
  fleet = startFleet({ server, clock, seed: 2, faults });
  await advance(clock, 1_000);
});

afterEach(() => fleet.stop());

const parked = (): Promise<readonly ParkedKey[]> => findParked(fleet.store, fleet.bus.partitions);
const slices = () => server.list('endpointslices').items.length;

async function forbidSlicesOf(...services: string[]): Promise<void> {
  faults.add({ verb: 'create', resource: 'endpointslices', error: 'forbidden' });
  for (const name of services) {
    server.create('services', {
      metadata: { name, namespace: 'shop' },
      spec: { selector: { app: name }, ports: [{ port: 80 }] },
    });
  }
  await advance(clock, 5_000);
}

test('lists rejected Services with the message of the API server and the time', async () => {
  expect(await parked()).toEqual([]);
  await forbidSlicesOf('web', 'db');
  const [db, web, ...more] = await parked();
  expect(more).toEqual([]);
  expect(db?.name).toBe(`${server.identity}/shop/db/endpointslice`);
  expect(web).toMatchObject({
    key: { cluster: server.identity, namespace: 'shop', service: 'web' },
    controller: 'endpointslice',
    reason: expect.stringContaining('forbidden'),
    causes: { first: [{ description: expect.stringContaining('shop/web') }] },
  });
  expect(web?.since).toBeGreaterThan(startedAt);
  // The slow retry fails as well; the time stays that of the first rejection.
  await advance(clock, 180_000);
  expect((await parked())[1]).toMatchObject({ since: web?.since });
});

test('retries a parked Service immediately on request', async () => {
  await forbidSlicesOf('web', 'db');
  faults.clear();
  const [web] = findByName(await parked(), 'shop/web');
  if (web === undefined) throw new Error('not parked');
  await retryParked(fleet.bus, web.key, 'first');
  await advance(clock, 1_000);
  expect((await parked()).map(({ key }) => key.service)).toEqual(['db']);
  expect(slices()).toBe(1);
});

test('a retry that is rejected again leaves the Service parked', async () => {
  await forbidSlicesOf('web');
  const [before] = await parked();
  if (before === undefined) throw new Error('not parked');
  await retryParked(fleet.bus, before.key, 'first');
  await advance(clock, 1_000);
  expect(await parked()).toMatchObject([{ name: before.name, since: before.since }]);
});

const key: ParkedKey = {
  name: 'c/shop/web/endpointslice',
  key: { cluster: 'c', namespace: 'shop', service: 'web' },
  controller: 'endpointslice',
  reason: 'forbidden\u001b[31m\nby a webhook',
  since: startedAt,
  nextTryAt: null,
  causes: { first: [{ description: 'Pod shop/web-1 added', observedAt: startedAt }], more: 2 },
};

test('matches a name from the namespace or the cluster on, with or without the controller', () => {
  for (const text of ['shop/web', 'c/shop/web', 'shop/web/endpointslice', key.name])
    expect(findByName([key], text)).toEqual([key]);
  for (const text of ['web', 'hop/web', 'shop/web/endpoints', '']) expect(findByName([key], text)).toEqual([]);
  expect(matchesFilter(key, { cluster: 'c', namespace: 'shop' })).toBe(true);
  expect(matchesFilter(key, { cluster: 'd' }) || matchesFilter(key, { namespace: 'web' })).toBe(false);
});
