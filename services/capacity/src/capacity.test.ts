import { expect, test } from 'vitest';
import { type CapacityOptions, capacityOf } from './capacity.ts';
import { consoleUsage } from './console-usage.ts';
import type { ChangeCost, PartCosts, UnitCosts } from './unit-costs.ts';
import { usageOf } from './usage.ts';

const none = { fixed: 0, perCluster: 0, perService: 0, perPod: 0 };
const noChange = { fixed: 0, perEndpoint: 0 };
const free: PartCosts = { start: none, idle: { fixed: 0, perCluster: 0 }, change: noChange, memory: none };

interface Given {
  readonly worker?: Partial<PartCosts>;
  readonly redis?: Partial<PartCosts>;
  readonly natsIn?: ChangeCost;
  readonly writes?: number;
}

/** Costs nothing but what is given. */
const costs = ({ worker, redis, natsIn = noChange, writes = 0 }: Given): UnitCosts => ({
  worker: { ...free, ...worker },
  nats: free,
  redis: { ...free, ...redis },
  ...{ natsIn, natsOut: noChange, natsMemoryPerTraffic: 0.1, writes },
});

/** A cost per change that does not depend on the number of endpoints. */
const each = (fixed: number): ChangeCost => ({ fixed, perEndpoint: 0 });

const demand: CapacityOptions = {
  ...{ clusters: 100, services: 1_000, pods: 10_000, changes: 200, partitions: 64, replicas: 1, maxServices: 500 },
};

test('a fleet has two workers, so that one can fail, if one could do the work', () => {
  expect(capacityOf(demand, costs({}))).toMatchObject({ fleets: 1, workers: 2, workerLimit: 'availability' });
});

test('workers share the changes, and use 60 % of a core', () => {
  const { workers, workerLimit, usage } = capacityOf(demand, costs({ worker: { change: each(10) } }));
  expect({ workers, workerLimit }).toEqual({ workers: 4, workerLimit: 'worker CPU' });
  expect(usage.worker.cpu).toBe(500);
});

test('workers are enough to hold all objects while one of them is down', () => {
  const memory = { ...none, fixed: 100, perPod: 0.5 };
  const capacity = capacityOf(demand, costs({ worker: { memory } }));
  expect(capacity).toMatchObject({ workers: 4, workerLimit: 'worker memory' });
  expect(capacity.workerMemory).toBeCloseTo(100 + 5_000 / 3);
});

test('workers share the clusters that are idle, too', () => {
  const idle = { fixed: 0, perCluster: 1 };
  const capacity = capacityOf({ ...demand, clusters: 1_500 }, costs({ worker: { idle } }));
  expect(capacity).toMatchObject({ fleets: 1, workers: 3, workerLimit: 'worker CPU' });
  expect(capacity.usage.worker.cpu).toBe(500);
});

test('Redis bounds a fleet by its clusters and workers', () => {
  const capacity = capacityOf(
    { ...demand, clusters: 200 },
    costs({ worker: { change: each(10) }, redis: { idle: { fixed: 50, perCluster: 3 } } }),
  );
  expect(capacity).toMatchObject({ fleets: 2, fleetLimit: 'Redis CPU', workers: 2 });
  expect(capacity.usage.redis.cpu).toBe(2 * 50 + 100 * 3);
});

test('a fleet has at most as many workers as partitions', () => {
  const given = costs({ worker: { change: each(10) } });
  expect(capacityOf({ ...demand, partitions: 3 }, given)).toMatchObject({
    fleets: 2,
    fleetLimit: 'partitions',
    workers: 2,
  });
});

test('one cluster that is too large for a fleet is reported with the reason, and not divided', () => {
  const capacity = capacityOf({ ...demand, clusters: 1, partitions: 3 }, costs({ worker: { change: each(10) } }));
  expect(capacity).toMatchObject({ fleets: 1, fleetLimit: 'partitions', workers: 3, workerLimit: 'partitions' });
});

test('NATS reserves its streams for each copy, and a day of records takes no more than that', () => {
  const small = capacityOf({ ...demand, replicas: 3 }, costs({ natsIn: each(0.1) }));
  expect(small.natsDiskReserved).toBeCloseTo(3 * (64 * 134.2 + 16.8));
  expect(small.natsDiskUsed).toBeCloseTo(3 * 0.02 * 86_400);
  const large = capacityOf(demand, costs({ natsIn: each(10) }));
  expect(large.natsDiskUsed).toBe(large.natsDiskReserved);
  expect(large.usage.nats.memory).toBeCloseTo(200);
});

test('NATS keeps the last block of each stream that gets a record every 10 s', () => {
  const nats: PartCosts = { ...free, memory: { ...none, fixed: 40 } };
  const memory = (changes: number) => capacityOf({ ...demand, changes }, { ...costs({}), nats }).natsMemory;
  expect(memory(6)).toBe(40);
  expect(memory(7)).toBe(40 + 128 * 22);
});

test('API servers get writes, and each watch again after some minutes', () => {
  const { watches, apiRequests } = capacityOf(demand, costs({ writes: 2 }));
  expect(watches).toBe(500);
  expect(apiRequests).toBeCloseTo(400 + 500 / 450);
});

test('usage is the sum of fixed costs and those of clusters, Services, Pods and changes', () => {
  const size = { fixed: 1_000, perCluster: 10, perService: 2, perPod: 1 };
  const part = { start: size, idle: { fixed: 3, perCluster: 1 }, change: { fixed: 3, perEndpoint: 0.5 }, memory: size };
  const usage = usageOf(
    { clusters: 10, services: 100, pods: 200, changes: 50 },
    2,
    costs({ worker: part, redis: part }),
  );
  expect(usage.worker).toEqual({ cpu: 3 + 5 + 100, memory: 1_000 + 50 + 100 + 100 });
  expect(usage.redis).toEqual({ cpu: 6 + 10 + 200, memory: 1_000 + 100 + 200 + 200 });
  expect(usage.startCpuSeconds).toBeCloseTo((1_000 + 1_500 + 1_500) / 1_000);
});

test('a console joins all Services, and keeps the history of some', () => {
  const given = { change: 0.5, memory: { fixed: 100, perService: 0.1, perHistory: 1 } };
  expect(consoleUsage({ services: 30, changes: 200 }, 50, given)).toEqual({ cpu: 100, memory: 100 + 3 + 30 });
  expect(consoleUsage({ services: 1_000, changes: 200 }, 50, given)).toEqual({ cpu: 100, memory: 100 + 100 + 50 });
});

test('each of several fleets has a console of its own', () => {
  const given = costs({ redis: { change: each(5) } });
  const { fleets, console } = capacityOf(demand, given);
  expect(fleets).toBe(2);
  expect(console).toEqual(consoleUsage({ services: 500, changes: 100 }, 500));
});

test('the measured costs need more of everything for more', () => {
  const small = capacityOf(demand);
  const large = capacityOf({ ...demand, clusters: 1_000, services: 10_000, pods: 100_000, changes: 2_000 });
  for (const part of ['worker', 'nats', 'redis'] as const) {
    expect(large.fleets * large.workers * large.usage[part].cpu).toBeGreaterThan(small.usage[part].cpu);
  }
  expect(large.natsDiskUsed * large.fleets).toBeGreaterThanOrEqual(small.natsDiskUsed);
  expect(large.startSeconds).toBeGreaterThan(0);
});
