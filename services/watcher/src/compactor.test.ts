import { MemoryBus, streamStart } from '@sluice/bus';
import { type CompactionRequest, decodeMessage, formatServiceKey, partitionOf } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { aService, aSlice } from '@sluice/model/testing';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Compactor, compactionBudget } from './compactor.ts';
import { Indexer } from './indexer.ts';

describe('compactor', () => {
  const scanMs = 5 * 60_000;
  const partitions = 4;
  let clock: VirtualClock;
  let indexer: Indexer;
  let bus: MemoryBus;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new VirtualClock(1_000);
    indexer = new Indexer();
    bus = new MemoryBus({ partitions });
    stop = new AbortController();
    running = Promise.resolve();
  });

  afterEach(async () => {
    stop.abort();
    await running;
  });

  function start(writesPerHour = 100_000): void {
    const compaction = { writesPerHour, maxEndpointsPerSlice: 10 };
    const compactor = new Compactor({ cluster: 'c', indexer, bus, clock, logger: silentLogger, compaction });
    running = compactor.run(stop.signal);
  }

  /** Slices of a Service with so many endpoints each. */
  function setSlices(service: string, sizes: readonly number[], managedBy = 'endpointslice-controller.k8s.io'): void {
    indexer.setService(aService({ name: service, uid: `uid-${service}` }));
    for (const [i, size] of sizes.entries()) indexer.setSlice(slice(service, i, size, managedBy));
  }

  function slice(service: string, i: number, size: number, managedBy: string): EndpointSlice {
    const labels = { 'kubernetes.io/service-name': service, 'endpointslice.kubernetes.io/managed-by': managedBy };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: service, uid: `uid-${service}` }];
    const endpoints = Array.from({ length: size }, (_, n) => ({ addresses: [`10.0.${i}.${n}`] }));
    const { metadata, ...rest } = aSlice(`${service}-${i}`, { endpoints });
    return { ...rest, metadata: { ...metadata, labels, ownerReferences } };
  }

  /** The requests in all partitions. */
  async function requests(): Promise<readonly CompactionRequest[]> {
    const all: CompactionRequest[] = [];
    for (let partition = 0; partition < partitions; partition++) {
      const { offset } = await bus.end('changes', partition);
      if (offset === 0) continue;
      for (const { key, payload } of await bus.read('changes', partition, streamStart).next(offset)) {
        expect(partitionOf(key, partitions)).toBe(partition);
        all.push(decodeMessage(payload) as CompactionRequest);
      }
    }
    return all.sort((a, b) => a.requestedAt - b.requestedAt);
  }

  const requested = async () => (await requests()).map(({ key, maxWrites }) => [key.service, maxWrites]);

  test('slices that could be fewer, and keep their sizes from one scan to the next, are compacted', async () => {
    setSlices('web', [4, 3, 2]);
    start();
    await advance(clock, scanMs);
    expect(await requests()).toEqual([]);
    await advance(clock, scanMs);
    expect(await requests()).toMatchObject([
      {
        kind: 'compaction',
        key: { cluster: 'c', namespace: 'shop', service: 'web' },
        maxWrites: 3,
        onlyWorthwhile: true,
      },
    ]);
    expect((await requests())[0]?.requestedAt).toBe(1_000 + 2 * scanMs);
  });

  test('a Service whose slices stay as they are is requested at each scan, under another id', async () => {
    setSlices('web', [4, 3]);
    start();
    await advance(clock, 3 * scanMs);
    expect(await requested()).toEqual([
      ['web', 2],
      ['web', 2],
    ]);
    const partition = partitionOf(formatServiceKey({ cluster: 'c', namespace: 'shop', service: 'web' }), partitions);
    const records = await bus.read('changes', partition, streamStart).next(10);
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  });

  test('slices that churn changes between scans are left alone until they are quiet', async () => {
    setSlices('web', [4, 3]);
    start();
    await advance(clock, scanMs);
    setSlices('web', [4, 2]);
    await advance(clock, scanMs);
    expect(await requests()).toEqual([]);
    await advance(clock, scanMs);
    expect(await requested()).toEqual([['web', 2]]);
  });

  test.each<[string, () => void]>([
    ['with one slice', () => setSlices('web', [3])],
    ['with as few slices as its endpoints need', () => setSlices('web', [10, 3])],
    ['whose merge takes more updates than it deletes slices', () => setSlices('web', [9, 9, 2])],
    ['whose slices are mirrored', () => setSlices('web', [4, 3], 'endpointslicemirroring-controller.k8s.io')],
  ])('a Service %s is left alone', async (_, arrange) => {
    arrange();
    start();
    await advance(clock, 3 * scanMs);
    expect(await requests()).toEqual([]);
  });

  test('the Service that loses most slices per write comes first', async () => {
    const order: string[] = [];
    bus.append = async (_topic, _partition, records) => {
      for (const { key } of records) order.push(key);
      return undefined;
    };
    setSlices('half', new Array(10).fill(5));
    setSlices('sparse', [1, 1, 1, 1, 1]);
    start();
    await advance(clock, 2 * scanMs);
    expect(order).toEqual(['c/shop/sparse', 'c/shop/half']);
  });

  describe('the writes per hour', () => {
    test('limit what each request may write', async () => {
      setSlices('sparse', [1, 1, 1, 1, 1, 1, 1, 1]);
      start(4);
      await advance(clock, 30 * scanMs);
      expect(await requested()).toEqual([
        ['sparse', 2],
        ['sparse', 2],
      ]);
    });

    test('are spent even if the bus does not acknowledge the request, which may have arrived', async () => {
      setSlices('web', [4, 3]);
      let appends = 0;
      bus.append = () => {
        appends++;
        return Promise.reject(new Error('no answer'));
      };
      start(4);
      await advance(clock, 30 * scanMs);
      expect(appends).toBe(2);
    });
  });

  test('a stopped compactor ends at once and requests nothing more', async () => {
    setSlices('web', [4, 3]);
    start();
    await advance(clock, scanMs);
    stop.abort();
    await running;
    await advance(clock, 2 * scanMs);
    expect(await requests()).toEqual([]);
    expect(clock.nextAt()).toBeUndefined();
  });
});

const minute = 60_000;
const hour = 60 * minute;

test('in no hour are more writes spent than the budget, however they are spread', () => {
  const spends = fc.array(
    fc.record({ afterMs: fc.nat(40 * minute), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), spends, (writesPerHour, steps) => {
      const budget = compactionBudget(writesPerHour, 0);
      const spent: { readonly at: number; readonly writes: number }[] = [];
      let at = 0;
      for (const { afterMs, share } of steps) {
        at += afterMs;
        const writes = Math.floor(budget.available(at) * share);
        budget.take(at, writes);
        spent.push({ at, writes });
        const within = spent.filter((one) => one.at > at - hour).reduce((sum, one) => sum + one.writes, 0);
        expect(within).toBeLessThanOrEqual(writesPerHour);
      }
    }),
  );
});

test('starts empty, and most of it can be spent in an hour', () => {
  const budget = compactionBudget(1_000, 0);
  expect(budget.available(0)).toBe(0);
  let spent = 0;
  for (let at = 0; at <= hour; at += 5 * minute) {
    const writes = Math.floor(budget.available(at));
    budget.take(at, writes);
    spent += writes;
  }
  expect(spent).toBe(900);
});
