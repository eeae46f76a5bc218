import { type Change, encodeMessage, type Stamp } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import { publishedStateScope } from './published-state.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

/** Long enough for a reflector to accept a list that is older than what it has seen. */
const acceptedMs = 120_000;

let clock: VirtualClock;
let reader: ScriptedReader;
let bus: GatedBus;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  bus = new GatedBus(2);
  reader.holds('services', [rawService('web'), rawService('db')]);
  reader.holds('pods', [rawPod('web-1')]);
});

afterEach(async () => {
  stop.abort();
  bus.failures = 0;
  bus.open();
  await advance(clock, 1_000);
  await running;
});

async function start(store?: MemoryStore, fencingToken = 7): Promise<void> {
  stop = new AbortController();
  const ports = { reader, bus, clock, random: seededRandom(1), logger: silentLogger };
  const watcher = new ClusterWatcher({ cluster: 'c', fencingToken, ...ports, ...(store && { store }) });
  running = watcher.run(stop.signal);
  await advance(clock, 5_000);
}

/** The messages since the last call, with the removal once for each partition. */
const published = (): string[] =>
  bus.changes.splice(0).map(({ kind, key, snapshot }: Change) => {
    if (kind !== 'change') return kind;
    return `${key.service}${snapshot?.initial ? ' initial' : ''}`;
  });

/** The cluster has only db, and is restored from a backup. */
function restore(version = '5'): void {
  reader.holds('services', [rawService('db', '3')], version);
  reader.expire('services');
}

const removed = ['clusterRemoved', 'clusterRemoved'];

describe('a cluster whose resourceVersions decreased', () => {
  test.each([
    ['without a store', false],
    ['with a store', true],
  ])('is discarded by every reconciler, and published as if the watcher had just started, %s', async (_, hasStore) => {
    await start(hasStore ? new MemoryStore() : undefined);
    expect(published().sort()).toEqual(['db initial', 'web initial']);
    restore();
    await advance(clock, acceptedMs);
    expect(published()).toEqual([...removed, 'db initial']);
    reader.send('services', { type: 'MODIFIED', object: rawService('db', '6') });
    await advance(clock, 1_000);
    expect(published()).toEqual(['db']);
  });

  test('keeps the numbers of its Changes, so that none counts as repeated', async () => {
    await start();
    const before = Math.max(...bus.changes.map(({ stamp }) => stamp.sequence));
    bus.tries.length = 0;
    restore();
    await advance(clock, acceptedMs);
    expect(bus.changes.at(-1)?.stamp).toEqual({ epoch: 7, sequence: before + 1 });
    restore('4');
    await advance(clock, acceptedMs);
    expect(bus.tries.flat()).toHaveLength(6);
    expect(new Set(bus.tries.flat()).size).toBe(6);
  });

  test('is discarded after the Changes that were in flight', async () => {
    await start();
    published();
    bus.shut = true;
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '11', false) });
    await advance(clock, 1_000);
    restore();
    await advance(clock, acceptedMs);
    bus.open();
    await advance(clock, 1_000);
    expect(published()).toEqual(['web', ...removed, 'db initial']);
  });

  test('is discarded although the bus is away for a while', async () => {
    await start();
    published();
    bus.failures = 3;
    restore();
    await advance(clock, acceptedMs);
    expect(published()).toEqual([...removed, 'db initial']);
  });

  test('that has a slice which was not there at its version is noticed without an older list', async () => {
    await start();
    published();
    reader.holds('endpointslices', [rawSlice('s', 'web', '7')], '12');
    reader.expire('endpointslices');
    await advance(clock, acceptedMs);
    expect(published().filter((message) => message === 'clusterRemoved')).toEqual(removed);
  });
});

describe('a watcher with a store', () => {
  test('continues what a previous one has started to discard', async () => {
    const store = new MemoryStore();
    await start(store);
    bus.failures = Number.POSITIVE_INFINITY;
    restore();
    await advance(clock, acceptedMs);
    published();
    stop.abort();
    await running;
    bus.failures = 0;
    await start(store, 8);
    expect(published()).toEqual([...removed, 'db initial']);
    stop.abort();
    await running;
    await start(store, 9);
    expect(published()).toEqual([]);
  });

  test('fails if the bus is closed meanwhile', async () => {
    await start(new MemoryStore());
    await bus.close();
    restore();
    const failed = running.catch((error: unknown) => error);
    await advance(clock, acceptedMs);
    expect(await failed).toMatchObject({ code: 'BUS_CLOSED' });
    running = Promise.resolve();
  });

  test('fails if another one takes over meanwhile', async () => {
    const store = new MemoryStore();
    await start(store);
    published();
    await store.claim(publishedStateScope('c'), 8);
    restore();
    const failed = running.catch((error: unknown) => error);
    await advance(clock, acceptedMs);
    expect(await failed).toMatchObject({ code: 'FENCED' });
    expect(published()).toEqual([]);
    running = Promise.resolve();
  });
});

describe('a watcher that stops while the cluster is restored', () => {
  test('leaves discarding it to the next one', async () => {
    const store = new MemoryStore();
    await start(store);
    published();
    const { commit } = store;
    store.commit = () => Promise.reject(new Error('no connection'));
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '11', false) });
    await advance(clock, 2_000);
    expect(published()).toEqual(['web']);
    restore();
    await advance(clock, acceptedMs);
    stop.abort();
    await advance(clock, 1_000);
    store.commit = commit;
    await running;
    expect(published()).toEqual([]);
    await start(store, 8);
    await advance(clock, acceptedMs);
    expect(published()).toEqual([...removed, 'db initial']);
  });
});

describe('a request of a reconciler, which has found a contradiction,', () => {
  const request = async (restoredCluster: string, stamp: Stamp) => {
    const payload = encodeMessage({ kind: 'resync', reason: 'restored', scope: { restoredCluster, stamp } });
    await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
    await advance(clock, acceptedMs);
  };
  const isDiscarded = () => published().includes('clusterRemoved');

  test.each<[string, string, Stamp, boolean]>([
    ['discards the cluster', 'c', { epoch: 7, sequence: 1 }, true],
    ['for a Change of an earlier watcher does, too', 'c', { epoch: 6, sequence: 900 }, true],
    ['for another cluster does nothing', 'd', { epoch: 7, sequence: 1 }, false],
  ])('%s', async (_, cluster, stamp, expected) => {
    await start();
    published();
    await request(cluster, stamp);
    expect(isDiscarded()).toBe(expected);
  });

  test('does nothing for a Change from before the cluster was read again', async () => {
    await start();
    const last = Math.max(...bus.changes.map(({ stamp }) => stamp.sequence));
    await request('c', { epoch: 7, sequence: last });
    expect(isDiscarded()).toBe(true);
    await request('c', { epoch: 7, sequence: last });
    await request('c', { epoch: 6, sequence: 900 });
    expect(isDiscarded()).toBe(false);
    await request('c', { epoch: 7, sequence: last + 1 });
    expect(isDiscarded()).toBe(true);
  });
});
