import { seededRandom, silentLogger, VirtualClock, YieldQueue } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { Indexer } from './indexer.ts';
import { PublishedState } from './published-state.ts';
import { Publisher, type PublisherOptions } from './publisher.ts';
import { FaultyStore } from './testing/faulty-store.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aPod, aService, someEndpoints } from './testing/objects.ts';

let clock: VirtualClock;
let indexer: Indexer;
let bus: GatedBus;
let store: FaultyStore;
let state: PublishedState;
let publisher: Publisher;

beforeEach(async () => {
  clock = new VirtualClock(1_000);
  indexer = new Indexer();
  bus = new GatedBus();
  store = new FaultyStore();
  await start({});
});

async function start(given: Partial<PublisherOptions>): Promise<void> {
  const ports = { cluster: 'c', fencingToken: 7, clock, random: seededRandom(1), logger: silentLogger };
  state = await PublishedState.claim({ store, ...ports });
  indexer.resourceVersions.set('endpoints', '3').set('endpointslices', '4');
  publisher = new Publisher({ ...ports, bus, indexer, publishedState: state, ...given });
}

async function publish(...services: string[]): Promise<void> {
  for (const name of services) {
    indexer.setService(aService(name));
    publisher.markDirty('shop', name, { kind: 'service' });
  }
  await advance(clock, 0);
}

/** Services whose digest the next watcher finds. */
const persisted = (...services: string[]) =>
  services.filter((service) => state.digest(`c/shop/${service}`) !== undefined);

describe('a digest is persisted', () => {
  test('once the Service was quiet for ten seconds', async () => {
    await publish('web');
    clock.step(clock.now() + 9_999);
    await publisher.checkpoint();
    expect([persisted('web'), publisher.awaitingCheckpoint]).toEqual([[], 1]);
    clock.step(clock.now() + 1);
    await publisher.checkpoint();
    expect([persisted('web'), publisher.awaitingCheckpoint]).toEqual([['web'], 0]);
  });

  test('after another time if one is given', async () => {
    await start({ digestQuietPeriodMs: 500 });
    await publish('web');
    clock.step(clock.now() + 500);
    await publisher.checkpoint();
    expect(persisted('web')).toEqual(['web']);
  });

  test('later if the Service changes meanwhile, which delays no other Service', async () => {
    await publish('web', 'db');
    clock.step(clock.now() + 6_000);
    await publish('web');
    clock.step(clock.now() + 4_000);
    await publisher.checkpoint();
    expect(persisted('web', 'db')).toEqual(['db']);
    clock.step(clock.now() + 6_000);
    await publisher.checkpoint();
    expect(persisted('web', 'db')).toEqual(['web', 'db']);
  });

  test('at once when all are, as at the end of a watcher', async () => {
    await publish('web', 'db');
    await publisher.checkpoint(true);
    expect(persisted('web', 'db')).toEqual(['web', 'db']);
  });

  test('once for each Change', async () => {
    await publish('web');
    await publisher.checkpoint(true);
    store.commits.length = 0;
    await publisher.checkpoint(true);
    expect(store.commits).toEqual([]);
  });

  test('with the stamp of the partition', async () => {
    await publish('web', 'db');
    await publisher.checkpoint(true);
    expect(state.lastStamp(0)).toEqual({ epoch: 7, sequence: 2 });
  });

  test('of a Service that still exists; otherwise its entry is removed', async () => {
    await publish('web');
    await publisher.checkpoint(true);
    indexer.deleteService('shop', 'web');
    publisher.markDirty('shop', 'web', { kind: 'service' });
    await advance(clock, 0);
    await publisher.checkpoint(true);
    const entries = store.peek('watcher/c').entries.map(({ key }) => key);
    expect(entries).not.toContain('c/shop/web');
  });
});

describe('no digest is persisted', () => {
  test('of a Service with changes that are not published yet, which keeps back no other Service', async () => {
    await publish('web', 'db');
    publisher.markDirty('shop', 'web', { kind: 'service' });
    await publisher.checkpoint(true);
    expect([persisted('web', 'db'), publisher.awaitingCheckpoint]).toEqual([['db'], 1]);
  });

  test('of a Service whose Change the bus has not accepted yet', async () => {
    await publish('web', 'db');
    bus.shut = true;
    await publish('web');
    await publisher.checkpoint(true);
    expect(persisted('web', 'db')).toEqual(['db']);
    bus.open();
    await advance(clock, 0);
    await publisher.checkpoint(true);
    expect(persisted('web', 'db')).toEqual(['web', 'db']);
  });

  test('of a Service that the bus cannot take, so that the next watcher tries as well', async () => {
    await publish('web');
    bus.limits = { recordBytes: 1_000, messageBytes: 2_000 };
    const { metadata } = someEndpoints('web');
    indexer.endpoints.set('shop/web', {
      metadata: { ...metadata, annotations: { a: 'x'.repeat(3_000) } },
      subsets: [],
    });
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await advance(clock, 0);
    expect(bus.changes.at(-1)?.unpublishable).toBeDefined();
    await publisher.checkpoint(true);
    expect([persisted('web'), publisher.awaitingCheckpoint]).toEqual([[], 0]);
  });

  test('of a Service that is being published again: the stored one is removed before', async () => {
    await publish('web', 'db');
    await publisher.checkpoint(true);
    bus.shut = true;
    await publish('web');
    expect(persisted('web', 'db')).toEqual(['db']);
    expect(store.peek('watcher/c').entries).toContainEqual({ key: 'c/shop/web', field: 'digest', value: '' });
    bus.open();
  });
});

test('a checkpoint hashes a limited number of facts and leaves the rest to the next one; the last one hashes all', async () => {
  await publish('large', 'web', 'db');
  for (let i = 0; i < 2_500; i++) indexer.setPod(aPod(`p${i}`, { app: 'large' }));
  clock.step(clock.now() + 10_000);
  await publisher.checkpoint();
  expect(persisted('large', 'web', 'db')).toEqual(['large']);
  await publisher.checkpoint();
  expect(persisted('web', 'db')).toEqual(['web', 'db']);
  await publish('large', 'web');
  await publisher.checkpoint(true);
  expect(persisted('large', 'web')).toEqual(['large', 'web']);
});

test('a checkpoint lets other work run first, if there is something to persist', async () => {
  const deferred: (() => void)[] = [];
  await start({ yieldQueue: new YieldQueue((callback) => deferred.push(callback)) });
  await publisher.checkpoint(true);
  expect(deferred).toEqual([]);
  await publish('web');
  deferred.shift()?.();
  await advance(clock, 0);
  const checkpoint = publisher.checkpoint(true);
  await advance(clock, 0);
  expect([deferred.length, persisted('web')]).toEqual([1, []]);
  deferred.shift()?.();
  await checkpoint;
  expect(persisted('web')).toEqual(['web']);
});

test('what is stored of a withheld Service stays, so that the next watcher publishes its deletion', async () => {
  await publish('web', 'db');
  await publisher.checkpoint(true);
  await publish('web');
  indexer.deleteService('shop', 'web');
  indexer.addUndecodable('services', 'shop', 'web');
  publisher.markDirty('shop', 'web', { kind: 'service' });
  await advance(clock, 0);
  await publisher.checkpoint(true);
  expect([persisted('web', 'db'), publisher.awaitingCheckpoint]).toEqual([['db'], 0]);
  const ports = { cluster: 'c', fencingToken: 8, clock, random: seededRandom(1), logger: silentLogger };
  const next = await PublishedState.claim({ store, ...ports });
  expect([...next.restoredServices].sort()).toEqual(['c/shop/db', 'c/shop/web']);
});
