import { type Delivery, MemoryBus, streamStart } from '@sluice/bus';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore, type StoredEntry } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { PlanFence } from '../fencing/plan-fence.ts';
import { PlanCheckpoint } from './plan-checkpoint.ts';

let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
let fence: PlanFence;
let moved: string[];
let failures: unknown[];

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new MemoryBus({ partitions: 4 });
  store = new MemoryStore();
  fence = new PlanFence();
  [moved, failures] = [[], []];
});

/** Of partition 3. */
async function restored(commitIntervalMs?: number): Promise<PlanCheckpoint> {
  const onCheckpoint = (offset: number, partition: number) => void moved.push(`${partition}: ${offset}`);
  const options = {
    ...{ bus, store, clock, logger: silentLogger, partition: 3, fencingToken: 1, onCheckpoint },
    ...(commitIntervalMs !== undefined && { commitIntervalMs }),
  };
  const checkpoint = new PlanCheckpoint(options, fence, (error) => failures.push(error));
  await checkpoint.restore();
  return checkpoint;
}

const record = (offset: number): Delivery => ({
  ...{ offset, id: `r${offset}`, key: 'c/shop/web', headers: {}, payload: new Uint8Array() },
});
const plan = (number: number) => ({ epoch: 1, number });
const peek = () => store.peek('writer/3');
const append = (count: number) =>
  bus.append(
    'mutations',
    3,
    Array.from({ length: count }, (_, i) => record(i + 1)),
  );
const settle = (ms = 0) => advance(clock, ms);

/** What the last owner stored, with the offset 1. */
async function stored(entries: readonly StoredEntry[]): Promise<void> {
  const checkpoint = { offset: 1, id: 'r1', streamId: 'memory' };
  await store.commit({ scope: 'writer/3', fencingToken: 1, expectedOffset: 0, checkpoint, entries });
}

const format = { key: 'scope', field: 'formatVersion', value: 1 };

describe('finished plans', () => {
  test('are committed with the last of them, whose offset is reported', async () => {
    const checkpoint = await restored();
    for (const offset of [1, 2]) checkpoint.started(offset);
    checkpoint.finished(record(2), plan(2));
    await settle();
    expect([peek().checkpoint.offset, checkpoint.isFinished(2)]).toEqual([0, true]);
    checkpoint.finished(record(1), plan(1));
    await settle();
    expect(peek().checkpoint).toMatchObject({ offset: 2, id: 'r2' });
    expect([checkpoint.committed.offset, checkpoint.isFinished(2)]).toEqual([2, false]);
    expect(moved).toEqual(['3: 0', '3: 2']);
    expect(peek().entries).toEqual([{ key: 'plans', field: 'completed', value: plan(2) }, format]);
  });

  test('are committed without further delay once there are 128 of them', async () => {
    const checkpoint = await restored(1_000_000);
    for (let offset = 1; offset <= 128; offset++) checkpoint.started(offset);
    for (let offset = 1; offset < 128; offset++) checkpoint.finished(record(offset), plan(offset));
    await settle();
    expect(peek().checkpoint.offset).toBe(0);
    checkpoint.finished(record(128), plan(128));
    await settle();
    expect(peek().checkpoint.offset).toBe(128);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('are committed together with those that finish during a commit', async () => {
    const checkpoint = await restored();
    const commit = store.commit.bind(store);
    const gate = Promise.withResolvers<void>();
    store.commit = async (request) => {
      await gate.promise;
      return commit(request);
    };
    for (const offset of [1, 2]) checkpoint.started(offset);
    checkpoint.finished(record(1), plan(1));
    await settle();
    checkpoint.finished(record(2), plan(2));
    gate.resolve();
    await settle();
    expect(moved).toEqual(['3: 0', '3: 1', '3: 2']);
  });

  test('are released from the reader', async () => {
    const checkpoint = await restored();
    await append(2);
    const reader = bus.read('mutations', 3, streamStart);
    const released: number[] = [];
    reader.release = (offset) => void released.push(offset);
    checkpoint.attach(reader);
    checkpoint.started(1);
    checkpoint.finished(record(1), undefined);
    await settle();
    expect([released, peek().checkpoint.streamId]).toEqual([[1], reader.streamId]);
    reader.close();
  });

  test('are committed before a reset, which forgets all others', async () => {
    const checkpoint = await restored(1_000_000);
    for (const offset of [1, 2, 3]) checkpoint.started(offset);
    for (const offset of [1, 3]) checkpoint.finished(record(offset), plan(offset));
    await checkpoint.reset();
    expect(peek().checkpoint.offset).toBe(1);
    expect(checkpoint.isFinished(3)).toBe(false);
    checkpoint.started(2);
    checkpoint.finished(record(2), plan(2));
    await checkpoint.reset();
    expect(peek().checkpoint.offset).toBe(2);
  });
});

test('after a failed commit, nothing is committed any more', async () => {
  const checkpoint = await restored();
  const failure = new Error('the store is away');
  const commit = store.commit.bind(store);
  store.commit = () => Promise.reject(failure);
  for (const offset of [1, 2]) checkpoint.started(offset);
  checkpoint.finished(record(1), plan(1));
  await settle();
  store.commit = commit;
  checkpoint.finished(record(2), plan(2));
  await settle();
  expect([failures, peek().checkpoint.offset]).toEqual([[failure], 0]);
});

describe('what a previous owner stored', () => {
  test('is continued', async () => {
    await append(3);
    await stored([{ key: 'plans', field: 'completed', value: plan(7) }, format]);
    const checkpoint = await restored();
    expect([fence.rejects('web', plan(7)), fence.rejects('web', plan(8))]).toEqual([true, false]);
    expect([1, 3, 4].map((offset) => checkpoint.isInherited(offset))).toEqual([true, true, false]);
    expect([1, 3].map((offset) => checkpoint.mayHaveBeenApplied(offset))).toEqual([false, false]);
    expect(moved).toEqual(['3: 1']);
  });

  test.each<[string, readonly StoredEntry[]]>([
    [
      'in another format',
      [
        { key: 'plans', field: 'completed', value: plan(7) },
        { ...format, value: 2 },
      ],
    ],
    ['under another key', [{ key: 'other', field: 'completed', value: plan(7) }, format]],
    ['in another field', [{ key: 'plans', field: 'other', value: plan(7) }, format]],
    ['with another value', [{ key: 'plans', field: 'completed', value: 'odd' }, format]],
  ])(
    '%s is unreadable: plans up to the end may have been applied, and the next commit removes it',
    async (_, entries) => {
      await append(3);
      await stored(entries);
      const checkpoint = await restored();
      expect([3, 4].map((offset) => checkpoint.mayHaveBeenApplied(offset))).toEqual([true, false]);
      for (const offset of [2, 3]) checkpoint.started(offset);
      for (const offset of [2, 3]) checkpoint.finished(record(offset), plan(offset));
      await settle();
      expect(peek().checkpoint.offset).toBe(3);
      const last = { key: 'plans', field: 'completed', value: plan(3) };
      expect(peek().entries).toHaveLength(2);
      expect(peek().entries).toEqual(expect.arrayContaining([last, format]));
    },
  );
});

test('after skipping to the end, no plan may have been applied before', async () => {
  await append(3);
  const claim = store.claim.bind(store);
  store.claim = async (scope, token) => ({ ...(await claim(scope, token)), intact: false });
  const checkpoint = await restored();
  expect([checkpoint.mayHaveBeenApplied(3), checkpoint.isInherited(3)]).toEqual([true, true]);
  await checkpoint.skipToEnd();
  expect([checkpoint.mayHaveBeenApplied(1), checkpoint.isInherited(1)]).toEqual([false, false]);
  expect([peek().checkpoint.offset, moved]).toEqual([3, ['3: 0', '3: 3']]);
});
