import { FakeApiServer, type StoredObject } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { defaultSettings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { differencesFromExpected, writesOfFreshStart } from './harness/converged.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';

const since = '2026-01-01T00:00:00Z';
let clock: VirtualClock;
let server: FakeApiServer;
let store: MemoryStore;
let tokens: number;

beforeEach(() => {
  clock = new VirtualClock(Date.parse(since));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 60_000 });
  store = new MemoryStore();
  tokens = 0;
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', nodeObject('n1', 'a'));
  for (const app of ['web', 'cart']) {
    const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
    server.create('services', { metadata: { name: app, namespace: 'shop' }, spec: { selector: { app }, ports } });
    for (let n = 0; n < 3; n++) putPod(app, n, true);
  }
});

function putPod(app: string, n: number, ready: boolean): void {
  const ips = [`10.${app.length}.0.${n}`];
  server.put('pods', podObject({ name: `${app}-${n}`, labels: { app }, ips, ready, node: 'n1', since }));
}

function start(storesPublishedState: boolean): Fleet {
  const fencingToken = ++tokens;
  return startFleet({ server, clock, seed: 3, store, fencingToken, storesPublishedState, comparePeriodMs: 60_000 });
}

/** After the backup: web changes 400 times; a user deletes cart's slice, and Sluice creates another one. */
async function change(): Promise<void> {
  for (let i = 0; i < 400; i++) {
    putPod('web', i % 3, i % 2 === 0);
    await advance(clock, 1_000);
  }
  for (let n = 0; n < 3; n++) putPod('web', n, true);
  server.delete('endpointslices', 'shop', sliceOf('cart').metadata.name);
  await advance(clock, 60_000);
  expect(differencesFromExpected(server)).toEqual([]);
}

function sliceOf(service: string): StoredObject {
  const slice = server.list('endpointslices').items.find(({ metadata }) => metadata.name.startsWith(service));
  if (slice === undefined) throw new Error(`${service} has no slice`);
  return slice;
}

async function expectRight(fleet: Fleet): Promise<void> {
  putPod('web', 1, false);
  putPod('cart', 1, false);
  await advance(clock, 10_000);
  expect(differencesFromExpected(server)).toEqual([]);
  await fleet.stop();
  const fresh = { clock, seed: 9, settings: defaultSettings, onRequest: () => {} };
  expect(await writesOfFreshStart(server, fresh)).toEqual([]);
}

test.each([
  ['resourceVersions go back', false, 0],
  ['resourceVersions go back, and the watcher has a store', true, 0],
  ['resourceVersions are bumped', false, 1_000_000],
  ['resourceVersions are bumped, and the watcher has a store', true, 1_000_000],
])('a cluster restored under a running fleet is right within ten minutes: %s', async (_, stores, bump) => {
  const fleet = start(stores);
  await advance(clock, 60_000);
  const backup = server.backup();
  await change();
  server.restore(backup, bump);
  await advance(clock, 600_000);
  await expectRight(fleet);
});

test.each([
  ['resourceVersions go back', 0],
  ['resourceVersions are bumped', 1_000_000],
])('a cluster restored while no fleet runs is right after the next start: %s', async (_, bump) => {
  const first = start(true);
  await advance(clock, 60_000);
  const backup = server.backup();
  await change();
  await first.stop();
  server.restore(backup, bump);
  const second = start(true);
  await advance(clock, 600_000);
  await expectRight(second);
});

test('a cluster restored twice is right again', async () => {
  const fleet = start(true);
  await advance(clock, 60_000);
  const backup = server.backup();
  for (let i = 0; i < 2; i++) {
    await change();
    server.restore(backup);
    await advance(clock, 600_000);
  }
  await expectRight(fleet);
});
