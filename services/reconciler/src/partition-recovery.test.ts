import { type Delivery, LogTruncatedError } from '@sluice/bus';
import type { Change, Fact } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { aChange, allApplied, anOutcome, aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestPartition } from './testing/test-partition.ts';

const service: Fact = { kind: 'service', service: aService() };
const versions = { endpoints: '9', endpointslices: '9' };
const first: Change = { ...aSnapshot(1, [service, fact.pod('p')], versions), previousSequence: 0 };
const ofDb = (change: Change): Change => ({ ...change, key: { ...key, service: 'db' } });

let partition: TestPartition;

beforeEach(() => {
  partition = new TestPartition();
});

afterEach(() => partition.stop().catch(() => {}));

test('a gap that the Change of one Service shows stops the others of its cluster, also under the next owner', async () => {
  await partition.start();
  await partition.send(first, anOutcome(await planOfWeb()));
  await partition.send(ofDb(aChange(5, [], { previousSequence: 4 })));
  await partition.restart({ fencingToken: 2 });
  await partition.send(aChange(6, [fact.pod('q')], { previousSequence: 5 }));
  expect(await partition.plans()).toHaveLength(1);
});

/** The plan that the first Change leads to. */
async function planOfWeb() {
  const elsewhere = new TestPartition();
  await elsewhere.start();
  await elsewhere.send(first);
  const plan = await elsewhere.lastPlan();
  await elsewhere.stop();
  return plan;
}

test('work that was not committed when the log was truncated does not move the checkpoint back', async () => {
  const { bus } = partition;
  const { promise: lost, reject: lose } = Promise.withResolvers<readonly Delivery[]>();
  lost.catch(() => {});
  const read = bus.read.bind(bus);
  bus.read = (...args) => {
    const reader = read(...args);
    const next = reader.next.bind(reader);
    reader.next = (max) => Promise.race([next(max), lost]);
    bus.read = read;
    return reader;
  };
  await partition.start({ commitIntervalMs: 100 });
  await partition.send(first, anOutcome(await planOfWeb()));
  lose(new LogTruncatedError('gone'));
  await partition.sendRaw(new TextEncoder().encode('unread'));
  const { checkpoint } = partition.store.peek('reconciler/0');
  expect(checkpoint.offset).toBe(3);
  await partition.settle(1_000);
  expect(partition.store.peek('reconciler/0').checkpoint).toEqual(checkpoint);
});

describe('a worker ends if the log does not take a plan', () => {
  test.each(['at once', 'later'])('of a former owner (%s)', async (when) => {
    await partition.start();
    const { bus } = partition;
    const append = bus.append.bind(bus);
    bus.append = (topic, ...rest) =>
      topic === 'mutations' ? Promise.reject(new Error('away')) : append(topic, ...rest);
    await partition.send(first);
    await expect(partition.stop()).rejects.toThrow('away');
    partition.reported.length = 0;
    const { promise, reject } = Promise.withResolvers<readonly number[]>();
    promise.catch(() => {});
    if (when === 'at once') reject(new Error('not stored'));
    Object.assign(bus, { deliver: () => promise });
    await partition.start({ fencingToken: 2 });
    reject(new Error('not stored'));
    await partition.settle();
    expect(partition.reportedAs('close')).toEqual([[]]);
  });

  test('that it has delivered and waits for nothing else', async () => {
    const { promise, reject } = Promise.withResolvers<readonly number[]>();
    Object.assign(partition.bus, { deliver: () => promise });
    await partition.start();
    await partition.send(first);
    expect(partition.reportedAs('close')).toEqual([]);
    reject(new Error('not stored'));
    await partition.settle();
    expect(partition.reportedAs('close')).toEqual([[]]);
  });
});

test('an Outcome that finds an older object than its plan was decided on has the cluster read again', async () => {
  await partition.start();
  await partition.send(first);
  await partition.send(anOutcome(await partition.lastPlan()), aChange(2, [fact.pod('q')], { previousSequence: 1 }));
  const plan = await partition.lastPlan();
  const [mutation] = plan.groups[0]?.mutations ?? [];
  const [result] = allApplied(plan);
  if (mutation?.verb !== 'update' || result === undefined) throw new Error('no slice is updated');
  const { object } = mutation;
  const current = { ...object, metadata: { ...object.metadata, resourceVersion: '40' } } as EndpointSlice;
  await partition.send(anOutcome(plan, { status: 'conflict', results: [{ ...result, status: 'failed', current }] }));
  expect(partition.reportedAs('restoreProven')).toEqual([[keyText]]);
  expect(await partition.requests()).toMatchObject([
    { scope: { restoredCluster: 'c', stamp: { epoch: 1, sequence: 2 } } },
  ]);
});

test('a malformed record of an unknown Service is requested, and leaves no state', async () => {
  await partition.start();
  await partition.sendRaw(new TextEncoder().encode('{'));
  expect(await partition.requests()).toMatchObject([{ scope: { key } }]);
  expect(partition.stored.filter((entry) => entry.key === keyText).map(({ field }) => field)).toEqual(['resync']);
});
