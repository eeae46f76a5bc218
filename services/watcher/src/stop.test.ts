import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { publishedStateScope } from './published-state.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

let clock: VirtualClock;
let reader: ScriptedReader;
let bus: GatedBus;
let store: MemoryStore;
let stop: AbortController;
let running: Promise<void>;
let hasEnded: boolean;
let tokens: number;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  bus = new GatedBus();
  store = new MemoryStore();
  tokens = 0;
  reader.holds('services', [rawService('web')]);
  reader.holds('pods', [rawPod('web-1')]);
});

afterEach(async () => {
  stop.abort();
  bus.open();
  await advance(clock, 1_000);
  await running;
});

async function start(given: Partial<ClusterWatcherOptions>): Promise<void> {
  stop = new AbortController();
  const ports = { reader, bus, clock, random: seededRandom(1), logger: silentLogger };
  const watcher = new ClusterWatcher({ cluster: 'c', fencingToken: ++tokens, ...ports, ...given });
  hasEnded = false;
  running = watcher.run(stop.signal).finally(() => {
    hasEnded = true;
  });
  await advance(clock, 5_000);
}

/** Leaves an append of a Change in flight. */
async function changeWhileBusIsShut(): Promise<void> {
  bus.shut = true;
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '11', false) });
  reader.holds('pods', [rawPod('web-1', '11', false)], '11');
  await advance(clock, 100);
  bus.changes.length = 0;
}

describe('a watcher with a store that stops', () => {
  test('waits for what is in flight and saves it, so that the next one publishes nothing', async () => {
    await start({ store });
    await changeWhileBusIsShut();
    stop.abort();
    await advance(clock, 400);
    expect(hasEnded).toBe(false);
    bus.open();
    await advance(clock, 0);
    expect(hasEnded).toBe(true);
    expect(bus.changes.splice(0)).toHaveLength(1);
    await start({ store });
    expect(bus.changes).toEqual([]);
  });

  test('waits for half a second at most', async () => {
    await start({ store });
    await changeWhileBusIsShut();
    stop.abort();
    await advance(clock, 499);
    expect(hasEnded).toBe(false);
    await advance(clock, 1);
    expect(hasEnded).toBe(true);
  });

  test('does not wait if nothing is in flight', async () => {
    await start({ store });
    stop.abort();
    await advance(clock, 0);
    expect(hasEnded).toBe(true);
  });

  test('before it has read the cluster saves nothing of it', async () => {
    reader.shut('nodes');
    await start({ store });
    stop.abort();
    await advance(clock, 0);
    reader.open('nodes');
    await advance(clock, 0);
    expect(hasEnded).toBe(true);
    const fields = store.peek(publishedStateScope('c')).entries.map(({ field }) => field);
    expect(fields.filter((field) => field.startsWith('resourceVersion'))).toEqual([]);
  });
});

test('a watcher without a store ends at once, whatever is in flight', async () => {
  await start({});
  await changeWhileBusIsShut();
  stop.abort();
  await advance(clock, 0);
  expect(hasEnded).toBe(true);
});

test('a watcher without a store does not publish what waited for its tick', async () => {
  await start({});
  bus.changes.length = 0;
  reader.send('endpointslices', { type: 'ADDED', object: rawSlice('web-x', 'web', '11') });
  await advance(clock, 0);
  stop.abort();
  await advance(clock, 1_000);
  expect(bus.changes).toEqual([]);
});

test('a stopped watcher leaves no timer', async () => {
  const compaction = { writesPerHour: 10, maxEndpointsPerSlice: 100 };
  await start({ store, compaction, digestPeriodMs: 60_000 });
  stop.abort();
  await running;
  expect(clock.nextAt()).toBeUndefined();
});

describe('a standby', () => {
  test('that is stopped publishes nothing if it is to publish afterwards', async () => {
    const elected = Promise.withResolvers<void>();
    await start({ publishAfter: elected.promise });
    stop.abort();
    elected.resolve();
    await advance(clock, 5_000);
    expect(bus.changes).toEqual([]);
  });

  test('whose election fails publishes nothing', async () => {
    await start({ publishAfter: Promise.reject(new Error('lost')) });
    expect(bus.changes).toEqual([]);
  });
});
