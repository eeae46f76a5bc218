import type { Mutation } from '@sluice/model';
import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, aSlice, create, someEndpoints } from '../testing/plans.ts';
import { AdaptiveLimit } from './adaptive-limit.ts';
import { FairShare, FixedLimit, PriorityQueue, writePriority } from './request-limit.ts';

describe('fixed limit', () => {
  let limit: FixedLimit;
  let stop: AbortController;
  let started: string[];
  let finish: Map<string, () => void>;

  beforeEach(() => {
    limit = new FixedLimit(2);
    stop = new AbortController();
    started = [];
    finish = new Map();
  });

  function run(name: string, priority = 0): Promise<void> {
    return limit.run(
      priority,
      () =>
        new Promise((resolve) => {
          started.push(name);
          finish.set(name, resolve);
        }),
      stop.signal,
    );
  }

  const settle = () => new Promise((resolve) => setImmediate(resolve));

  test('at most so many requests run, the lowest priority value first', async () => {
    void run('a');
    void run('b');
    void run('c', 2);
    void run('d', 1);
    await settle();
    expect(started).toEqual(['a', 'b']);
    finish.get('a')?.();
    // The slot is passed on: a request that comes now waits.
    await Promise.resolve();
    void run('e', 0);
    await settle();
    expect(started).toEqual(['a', 'b', 'd']);
    finish.get('b')?.();
    finish.get('d')?.();
    await settle();
    expect(started).toEqual(['a', 'b', 'd', 'e', 'c']);
  });

  test('a failed request frees its slot', async () => {
    for (let i = 0; i < 3; i++) {
      await expect(limit.run(0, () => Promise.reject(new Error('refused')), stop.signal)).rejects.toThrow('refused');
    }
  });

  test('an abort lets waiting requests fail with their own reason, and takes no slot', async () => {
    void run('a');
    void run('b');
    const waiting = limit.run(0, () => Promise.reject(new Error('stopped')), stop.signal);
    stop.abort();
    await expect(waiting).rejects.toThrow('stopped');
    void run('c');
    await settle();
    expect(started).toEqual(['a', 'b', 'c']);
  });
});

function taken(queue: PriorityQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

test('takes the lowest priority first, and equal ones in order of arrival', () => {
  const queue = new PriorityQueue<string>();
  for (const [order, item] of [
    [5, 'a'],
    [1, 'b'],
    [5, 'c'],
    [0, 'd'],
    [1, 'e'],
    [9, 'f'],
  ] as const) {
    queue.add(order, item);
  }
  expect(queue.size).toBe(6);
  expect(taken(queue)).toEqual(['d', 'b', 'e', 'a', 'c', 'f']);
});

test('a removed item is not taken', () => {
  const queue = new PriorityQueue<string>();
  queue.add(1, 'a');
  const remove = queue.add(1, 'b');
  queue.add(1, 'c');
  remove();
  remove();
  expect(taken(queue)).toEqual(['a', 'c']);
});

const clock = new VirtualClock(0);
const noAbort = new AbortController().signal;

/** A cluster whose requests end when the test calls `end`. */
class TestCluster {
  inFlight = 0;
  readonly #ends: (() => void)[] = [];
  readonly #limit: AdaptiveLimit;

  constructor(fairShare: FairShare) {
    this.#limit = new AdaptiveLimit({ max: 64, initial: 64, fairShare, clock });
  }

  /** Priorities of the requests in the order of their start. */
  readonly started: number[] = [];

  async send(count: number, priority = 0): Promise<void> {
    const request = async () => {
      this.inFlight += 1;
      this.started.push(priority);
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      this.inFlight -= 1;
    };
    for (let i = 0; i < count; i++) void this.#limit.run(priority, request, noAbort);
    await advance(clock, 0);
  }

  async end(count: number): Promise<void> {
    for (const end of this.#ends.splice(0, count)) end();
    await advance(clock, 0);
  }
}

test('one cluster may use the whole limit', async () => {
  const a = new TestCluster(new FairShare(10));
  await a.send(12);
  expect(a.inFlight).toBe(10);
});

test('clusters with requests share the limit, and each may always send one', async () => {
  const fairShare = new FairShare(2);
  const clusters = [new TestCluster(fairShare), new TestCluster(fairShare), new TestCluster(fairShare)] as const;
  for (const cluster of clusters) await cluster.send(5);
  expect(clusters.map(({ inFlight }) => inFlight)).toEqual([2, 1, 1]);
  await clusters[0].end(1);
  expect(clusters.map(({ inFlight }) => inFlight)).toEqual([1, 1, 1]);
});

test('a cluster that does not respond leaves the others their shares', async () => {
  const fairShare = new FairShare(8);
  const [silent, healthy] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await silent.send(20);
  await healthy.send(8);
  expect([silent.inFlight, healthy.inFlight]).toEqual([8, 4]);
  await healthy.end(4);
  expect([silent.inFlight, healthy.inFlight]).toEqual([8, 4]);
});

test('a cluster without requests leaves its share to the others', async () => {
  const fairShare = new FairShare(4);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(2);
  await b.send(6);
  expect([a.inFlight, b.inFlight]).toEqual([2, 2]);
  await a.end(2);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([0, 4]);
});

test('a cluster keeps its share until its last request has ended', async () => {
  const fairShare = new FairShare(8);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(2);
  await b.send(10);
  await a.end(1);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([1, 4]);
  await a.end(1);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([0, 8]);
});

test('a request that arrives after the share has grown does not pass those that wait', async () => {
  const fairShare = new FairShare(2);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(1);
  await b.send(2, 1);
  await a.end(1);
  await b.send(1, 2);
  expect(b.started).toEqual([1, 1]);
});

const now = 1_000_000;
const causedAt = (observedAt: number) => ({ causes: { first: [{ description: 'test', observedAt }], more: 0 } });

function bulk(slices: number, endpoints: number): readonly (readonly Mutation[])[] {
  const [endpoint] = aSlice('x').endpoints ?? [];
  const object = {
    ...aSlice('x'),
    endpoints: Array.from({ length: endpoints }, () => endpoint).flatMap((e) => e ?? []),
  };
  return [Array.from({ length: slices }, () => ({ verb: 'create', resource: 'endpointslices', object }) as const)];
}

test('of two plans of equal size, the one with the older change goes first', () => {
  const [older, newer] = [causedAt(now - 500), causedAt(now - 400)];
  expect(writePriority(aPlan([[create('a')]], older), now)).toBeLessThan(
    writePriority(aPlan([[create('a')]], newer), now),
  );
});

test('a small change goes before a large one that is slightly older', () => {
  const large = writePriority(aPlan(bulk(50, 100), causedAt(now - 1_000)), now);
  expect(writePriority(aPlan([[create('a')]], causedAt(now)), now)).toBeLessThan(large);
});

test('a plan of any size goes before changes that are ten seconds newer', () => {
  const large = writePriority(aPlan(bulk(1_000, 1_000), causedAt(now - 10_001)), now);
  expect(large).toBeLessThan(writePriority(aPlan([[create('a')]], causedAt(now)), now));
});

test('a skewed clock cannot put a plan ahead of all others', () => {
  expect(writePriority(aPlan([[create('a')]], causedAt(0)), now)).toBeGreaterThan(now - 61_000);
  expect(writePriority(aPlan([[create('a')]], causedAt(now * 2)), now)).toBeLessThanOrEqual(now + 100);
});

test('Endpoints count by their addresses', () => {
  const subsets = [
    { addresses: Array.from({ length: 1_000 }, () => ({ ip: '10.0.0.1' })), notReadyAddresses: null, ports: null },
  ];
  const large: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets } };
  const empty: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets: null } };
  expect(
    writePriority(aPlan([[large]], causedAt(now)), now) - writePriority(aPlan([[empty]], causedAt(now)), now),
  ).toBe(1_000);
});

test('under contention, slices go before slightly older Endpoints', () => {
  const endpoints = writePriority(aPlan([[create('a')]], { ...causedAt(now - 400), controller: 'endpoints' }), now);
  const slices = (observedAt: number) =>
    writePriority(aPlan([[create('a')]], { ...causedAt(observedAt), controller: 'endpointslice' }), now);
  expect(slices(now)).toBeLessThan(endpoints);
  expect(writePriority(aPlan([[create('a')]], { ...causedAt(now - 600), controller: 'endpoints' }), now)).toBeLessThan(
    slices(now),
  );
});
