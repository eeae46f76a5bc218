import type { ClusterReader } from '@sluice/kubernetes';
import { Semaphore, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import { FalseAlarms } from './availability-monitor.ts';
import { Prefetch } from './prefetch.ts';

let clock: VirtualClock;
let open: Set<string>;
let opened: number;
let watchList: boolean;
/** Resolved: the API server sends its lists. */
let listed: PromiseWithResolvers<void>;
let reader: ClusterReader;
let falseAlarms: FalseAlarms;
let prefetch: Prefetch;

beforeEach(() => {
  clock = new VirtualClock(0);
  [open, opened, watchList] = [new Set(), 0, true];
  listed = Promise.withResolvers();
  listed.resolve();
  reader = {
    identity: async () => 'uid',
    get watchList() {
      return watchList;
    },
    list: () => Promise.reject(new Error('not listed')),
    async *watch(resource, _, signal) {
      const name = `${resource}/${opened++}`;
      open.add(name);
      signal.addEventListener('abort', () => open.delete(name), { once: true });
      await listed.promise;
      yield [{ type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true }];
    },
  };
  falseAlarms = new FalseAlarms(clock);
  prefetch = new Prefetch({ reader, clock, falseAlarms });
});

const signal = () => new AbortController();
const firstBatch = async (reader: ClusterReader, stop: AbortSignal) => {
  const stream = reader.watch('pods', '', stop, { sendInitialEvents: true });
  return (await stream[Symbol.asyncIterator]().next()).value;
};

test('the first watch of each resource is the one that is already open', async () => {
  await prefetch.start();
  await prefetch.start();
  expect(opened).toBe(5);
  const stop = signal();
  const reader = prefetch.reader(stop.signal);
  expect(await firstBatch(reader, stop.signal)).toMatchObject([{ resourceVersion: '7' }]);
  expect(opened).toBe(5);
  await firstBatch(reader, stop.signal);
  expect(opened).toBe(6);
  await advance(clock, 60_000);
  expect(open.size).toBe(6);
  stop.abort();
  await advance(clock, 0);
  expect(open.size).toBe(0);
});

test('preparation is complete when every list has been read', async () => {
  listed = Promise.withResolvers();
  let complete = false;
  const starting = prefetch.start().then(() => {
    complete = true;
  });
  await advance(clock, 100);
  expect(complete).toBe(false);
  listed.resolve();
  await advance(clock, 0);
  expect(complete).toBe(true);
  await starting;
  prefetch.close();
});

test('watches stay open as long as they are prepared for', async () => {
  for (let ms = 0; ms < 6_000; ms += 1_000) {
    await prefetch.start();
    await advance(clock, 1_000);
  }
  expect([opened, open.size]).toEqual([5, 5]);
  await advance(clock, 1_000);
  expect(open.size).toBe(0);
});

test('watches whose lease does not come are closed, and not opened again at once', async () => {
  await prefetch.start();
  await advance(clock, 2_000);
  expect(open.size).toBe(0);
  await prefetch.start();
  expect(opened).toBe(5);
  await advance(clock, 30_000);
  await prefetch.start();
  expect(opened).toBe(10);
  prefetch.close();
  await advance(clock, 0);
  expect(open.size).toBe(0);
});

test('without preparation, or with an API server that cannot stream lists, the cluster is read as usual', async () => {
  const stop = signal();
  await firstBatch(prefetch.reader(stop.signal), stop.signal);
  expect(opened).toBe(1);
  watchList = false;
  await prefetch.start();
  expect(opened).toBe(1);
});

test('a limited number of clusters is read at once, and after a false alarm none for a while', async () => {
  const listing = new Semaphore({ clock, permits: 2, maxIdleMs: 10_000 });
  listed = Promise.withResolvers();
  const clusters = Array.from({ length: 5 }, () => new Prefetch({ reader, clock, listing, falseAlarms }));
  for (const cluster of clusters) void cluster.start();
  await advance(clock, 0);
  expect(opened).toBe(10);
  await advance(clock, 2_000);
  expect([opened, open.size]).toEqual([10, 0]);
  listed.resolve();
  await advance(clock, 0);
  for (const cluster of clusters) await cluster.start();
  expect(opened).toBe(10);
  await advance(clock, 30_000);
  for (const cluster of clusters) await cluster.start();
  expect(opened).toBe(35);
  for (const cluster of clusters) cluster.close();
});

test('a cluster whose lease comes before its turn is read as usual', async () => {
  const listing = new Semaphore({ clock, permits: 1, maxIdleMs: 10_000 });
  const permit = await listing.acquire(signal().signal);
  prefetch = new Prefetch({ reader, clock, listing, falseAlarms });
  void prefetch.start();
  const stop = signal();
  const own = prefetch.reader(stop.signal);
  permit.release();
  await firstBatch(own, stop.signal);
  expect(opened).toBe(1);
  stop.abort();
});

test('closing leaves no timer, and is no false alarm', async () => {
  await prefetch.start();
  prefetch.close();
  expect([clock.nextAt(), falseAlarms.isRecent]).toEqual([undefined, false]);
  prefetch.close();
  await prefetch.start();
  expect(opened).toBe(10);
  prefetch.close();
});

test('a cluster whose lease comes is no false alarm', async () => {
  await prefetch.start();
  const stop = signal();
  prefetch.reader(stop.signal);
  await advance(clock, 60_000);
  expect(falseAlarms.isRecent).toBe(false);
  stop.abort();
});
