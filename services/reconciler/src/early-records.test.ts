import { type Delivery, LocalDeliveryBus, MemoryBus, type PartitionReader, streamStart } from '@sluice/bus';
import { decodeMessage, encodeMessage, formatServiceKey, type Message, type PlannedMutations } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact } from '@sluice/service-state/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PartitionWorker } from './partition-worker.ts';

const settings = { ...defaultSettings, controllers: new Set(['endpointslice'] as const) };
const behind = { endpoints: '9', endpointslices: '9' };
const service = { kind: 'service', service: aService() } as const;

/** A reconciler in a worker, whose records arrive before the log has them. */
let clock: VirtualClock;
let log: MemoryBus;
let bus: LocalDeliveryBus;
let store: MemoryStore;
let stop: AbortController;
let running: Promise<void>;
/** Whether the reconciler has its lease. */
let current: boolean;
let ids: number;

beforeEach(async () => {
  ids = 0;
  clock = new VirtualClock(1_000_000);
  log = new MemoryBus({ partitions: 1 });
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  bus = new LocalDeliveryBus(log, ports);
  store = new MemoryStore();
  stop = new AbortController();
  current = true;
  const options = { partition: 0, fencingToken: 1, bus, store, settings, isCurrent: () => current, ...ports };
  running = new PartitionWorker(options).run(stop.signal);
  await bus.append('changes', 0, [toRecord(aSnapshot(1, [service, fact.pod('p')], behind))]);
  await advance(clock, 0);
});

afterEach(async () => {
  stop.abort();
  await advance(clock, 0);
  await running;
});

function toRecord(message: Exclude<Message, { readonly kind: 'resync' | 'clusterRemoved' }>) {
  return { key: formatServiceKey(message.key), id: `${++ids}`, headers: {}, payload: encodeMessage(message), message };
}

const planOf = (record: Delivery | undefined) => decodeMessage(record?.payload ?? new Uint8Array()) as PlannedMutations;

/** A reader of the plans, as a writer of this process has it. */
async function plans() {
  const reader = bus.read('mutations', 0, streamStart);
  const next = reader.next(10);
  await advance(clock, 0);
  return { reader, first: planOf((await next)[0]) };
}

const stored = (field: string) =>
  store.peek('reconciler/0').entries.find((entry) => entry.key === 'partition' && entry.field === field)?.value;

test('early records are decided and committed at the offset of the log; the log repeats them without effect', async () => {
  const { reader, first } = await plans();
  void bus.deliver('changes', 0, [toRecord(anOutcome(first))]);
  void bus.deliver('changes', 0, [toRecord(aChange(2, [fact.pod('q')]))]);
  const next = reader.next(10);
  await advance(clock, 0);
  expect((await next).map((record) => planOf(record).plan.number)).toEqual([2]);
  expect(store.peek('reconciler/0').checkpoint).toMatchObject({ offset: 1, id: '1' });
  await advance(clock, 1_000);
  expect(store.peek('reconciler/0').checkpoint).toMatchObject({ offset: 3, id: '3' });
  expect(stored('lastPlan')).toBe(2);
});

test('the store forgets no plan before the log has it', async () => {
  const { reader, first } = await plans();
  void bus.deliver('changes', 0, [toRecord(anOutcome(first))]);
  void bus.deliver('changes', 0, [toRecord(aChange(2, [fact.pod('q')]))]);
  const next = reader.next(10);
  await advance(clock, 0);
  expect((await log.end('mutations', 0)).offset).toBe(1);
  const held = Promise.withResolvers<void>();
  const append = log.append.bind(log);
  log.append = async (...args) => {
    await held.promise;
    return append(...args);
  };
  void bus.deliver('changes', 0, [toRecord(anOutcome(planOf((await next)[0])))]);
  void bus.deliver('changes', 0, [toRecord(aChange(3, [fact.pod('r')]))]);
  await advance(clock, 1_000);
  expect(stored('lastPlan')).toBe(2);
  held.resolve();
  await advance(clock, 0);
  expect(stored('lastPlan')).toBe(3);
});

describe('a plan that a writer has when its lease is lost', () => {
  let reader: PartitionReader;

  beforeEach(async () => {
    const { first, ...rest } = await plans();
    reader = rest.reader;
    void bus.deliver('changes', 0, [toRecord(anOutcome(first))]);
    void bus.deliver('changes', 0, [toRecord(aChange(2, [fact.pod('q')]))]);
    await advance(clock, 0);
    expect(await reader.next(10)).toHaveLength(1);
    running = running.catch(() => {});
    current = false;
  });

  test('gets into the log: a store that has lost both cannot show it', async () => {
    await advance(clock, 250);
    expect((await log.end('mutations', 0)).offset).toBe(2);
  });

  test('does not if the process was frozen: the next owner has published it', async () => {
    clock.skipTo(clock.now() + 900);
    await advance(clock, 250);
    expect((await log.end('mutations', 0)).offset).toBe(1);
  });
});

test('a plan counts as published once the log has it', async () => {
  const { first } = await plans();
  void bus.deliver('changes', 0, [toRecord(anOutcome(first))]);
  void bus.deliver('changes', 0, [toRecord(aChange(2, [fact.pod('q')]))]);
  await advance(clock, 0);
  expect((await log.end('mutations', 0)).offset).toBe(1);
  expect(stored('publishedPlan')).toBe(1);
  await advance(clock, 1_000);
  expect((await log.end('mutations', 0)).offset).toBe(2);
  stop.abort();
  await advance(clock, 0);
  expect(stored('publishedPlan')).toBe(2);
});
