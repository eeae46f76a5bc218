import { type Bus, ForwardingBus, MemoryBus } from '@sluice/bus';
import { FakeApiServer, type StoredObject } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { differencesFromExpected, writesOfFreshStart } from './harness/converged.ts';
import { type Fleet, partitions, startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';

const since = '2026-01-01T00:00:00Z';
let clock: VirtualClock;
let server: FakeApiServer;
let store: MemoryStore;
let bus: Bus;
let tokens: number;

/** A fleet that stops leaves the bus open. */
class SharedBus extends ForwardingBus {
  override async close(): Promise<void> {}
}

beforeEach(() => {
  clock = new VirtualClock(Date.parse(since));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 60_000 });
  store = new MemoryStore();
  bus = new MemoryBus({ partitions });
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

interface Started {
  readonly storesPublishedState: boolean;
  /** Default: the bus starts empty, as if it had lost everything. */
  readonly keepsBus?: boolean;
  readonly settings?: Settings;
}

function start({ keepsBus = false, settings = defaultSettings, storesPublishedState }: Started): Fleet {
  const fencingToken = ++tokens;
  const wrapBus = (fresh: Bus) => (keepsBus ? new SharedBus(bus) : fresh);
  const fleet = { server, clock, seed: 3, store, fencingToken, settings, storesPublishedState, wrapBus };
  return startFleet({ ...fleet, comparePeriodMs: 60_000 });
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
])(
  'a cluster restored under a running fleet is right within ten minutes: %s',
  async (_, storesPublishedState, bump) => {
    const fleet = start({ storesPublishedState });
    await advance(clock, 60_000);
    const backup = server.backup();
    await change();
    server.restore(backup, bump);
    await advance(clock, 600_000);
    await expectRight(fleet);
  },
);

test.each([
  ['resourceVersions go back', false, 0],
  ['resourceVersions are bumped', false, 1_000_000],
  ['resourceVersions go back, and nothing on the bus is lost', true, 0],
  ['resourceVersions are bumped, and nothing on the bus is lost', true, 1_000_000],
])('a cluster restored while no fleet runs is right after the next start: %s', async (_, keepsBus, bump) => {
  const first = start({ storesPublishedState: true, keepsBus });
  await advance(clock, 60_000);
  const backup = server.backup();
  await change();
  await first.stop();
  server.restore(backup, bump);
  const second = start({ storesPublishedState: true, keepsBus });
  await advance(clock, 600_000);
  await expectRight(second);
});

test.each([
  ['resourceVersions go back', 0],
  ['resourceVersions are bumped', 1_000_000],
])('a slice that Sluice deleted and a restore brings back follows its Pods again: %s', async (_, bump) => {
  const settings = { ...defaultSettings, maxEndpointsPerSlice: 2, controllers: new Set(['endpointslice'] as const) };
  const began = { storesPublishedState: true, keepsBus: true, settings };
  const first = start(began);
  putPod('web', 3, true);
  await advance(clock, 60_000);
  const backup = server.backup();
  const { endpoints } = sliceOf('web') as unknown as { endpoints: { targetRef: { name: string } }[] };
  const scaledDown = endpoints.map(({ targetRef }) => targetRef.name);
  const scaleDown = () => {
    for (const name of scaledDown) server.delete('pods', 'shop', name, { gracePeriodSeconds: 0 });
  };
  scaleDown();
  await advance(clock, 60_000);
  await first.stop();
  server.restore(backup, bump);
  const second = start(began);
  await advance(clock, 60_000);
  scaleDown();
  await advance(clock, 600_000);
  const rest = (server.list('endpointslices').items as unknown as { endpoints: { targetRef: { name: string } }[] }[])
    .flatMap((slice) => slice.endpoints.map(({ targetRef }) => targetRef.name))
    .filter((name) => scaledDown.includes(name));
  expect(rest).toEqual([]);
  await second.stop();
});

test('a cluster restored twice is right again', async () => {
  const fleet = start({ storesPublishedState: true });
  await advance(clock, 60_000);
  const backup = server.backup();
  for (let i = 0; i < 2; i++) {
    await change();
    server.restore(backup);
    await advance(clock, 600_000);
  }
  await expectRight(fleet);
});
