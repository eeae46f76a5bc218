import type { RawObject } from '@sluice/kubernetes';
import { Semaphore, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawEndpoints, rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

const compaction = { writesPerHour: 1_000, maxEndpointsPerSlice: 100 };
const periods = { digestPeriodMs: 60_000, compaction };
let clock: VirtualClock;
let reader: ScriptedReader;
let bus: GatedBus;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  bus = new GatedBus();
  stop = new AbortController();
  reader.holds('services', [rawService('web'), rawService('db')]);
  reader.holds('endpointslices', [emptySlice('web-1'), emptySlice('web-2')]);
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** A slice of the Service web that a compaction would delete. */
function emptySlice(name: string): RawObject {
  const raw = rawSlice(name, 'web');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'uid-web' }];
  return { ...raw, metadata: { ...(raw.metadata as object), ownerReferences } };
}

async function start(given: Partial<ClusterWatcherOptions>): Promise<void> {
  const ports = { reader, bus, clock, random: seededRandom(1), logger: silentLogger };
  running = new ClusterWatcher({ cluster: 'c', fencingToken: 1, ...ports, ...given }).run(stop.signal);
  await advance(clock, 5_000);
}

/** The messages since the last call. */
const published = (): string[] =>
  bus.changes.splice(0).map(({ kind, key, digest }) => `${key.service} ${digest === undefined ? kind : 'digest'}`);

test('digests are published in turn, and slices that could be fewer are compacted', async () => {
  await start(periods);
  published();
  await advance(clock, 10 * 60_000);
  const messages = published();
  expect(messages.filter((message) => message === 'web compaction')).toHaveLength(1);
  expect(messages.filter((message) => message.endsWith('digest'))).toHaveLength(10);
  expect(new Set(messages)).toEqual(new Set(['web digest', 'db digest', 'web compaction']));
});

test('without their options neither happens', async () => {
  await start({});
  published();
  await advance(clock, 60 * 60_000);
  expect(published()).toEqual([]);
});

test('a standby does neither, nor does it resync after a relist', async () => {
  await start({ ...periods, publishAfter: new Promise(() => {}) });
  reader.expire('endpointslices');
  await advance(clock, 60 * 60_000);
  expect(published()).toEqual([]);
});

test('a relist of Endpoints publishes every Service, one of Nodes or Pods none', async () => {
  await start({});
  published();
  reader.holds('endpoints', [rawEndpoints('web', '12')], '14');
  reader.expire('endpoints');
  await advance(clock, 5_000);
  expect(published()).toEqual(['web change', 'db change']);
  reader.expire('nodes');
  reader.expire('pods');
  await advance(clock, 5_000);
  expect(published()).toEqual([]);
});

describe('the turn to list a cluster', () => {
  let isNext: boolean;

  async function startAndQueue(maxIdleMs: number, given: Partial<ClusterWatcherOptions>): Promise<void> {
    const listing = new Semaphore({ clock, permits: 1, maxIdleMs, maxHoldMs: 60_000 });
    isNext = false;
    await start({ listing, ...given });
    void listing.acquire(stop.signal).then(() => {
      isNext = true;
    });
    await advance(clock, 0);
  }

  test('is kept while the cluster sends something, and given up once it does not', async () => {
    bus.shut = true;
    await startAndQueue(10_000, {});
    for (let version = 11; version < 15; version++) {
      reader.send('pods', { type: 'ADDED', object: rawPod('web-1', String(version)) });
      await advance(clock, 6_000);
    }
    expect(isNext).toBe(false);
    await advance(clock, 4_000);
    expect(isNext).toBe(true);
    bus.open();
  });

  test('is given up by a standby once it has read the cluster, although it publishes nothing', async () => {
    await startAndQueue(60_000, { publishAfter: new Promise(() => {}) });
    expect(isNext).toBe(true);
  });

  test('is not waited for by a stopped watcher', async () => {
    const listing = new Semaphore({ clock, permits: 0, maxIdleMs: 60_000 });
    await start({ listing });
    stop.abort();
    await running;
    expect(bus.changes).toEqual([]);
  });
});
