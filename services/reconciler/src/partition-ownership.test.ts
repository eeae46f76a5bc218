import type { StreamOffset } from '@sluice/bus';
import { encodeMessage, type Fact } from '@sluice/messages';
import { YieldQueue } from '@sluice/platform';
import { defaultSettings } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact, keyText } from '@sluice/service-state/testing';
import { isFencedError } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runReconciler, workPartition } from './reconciler.ts';
import { TestPartition } from './testing/test-partition.ts';

const service: Fact = { kind: 'service', service: aService() };
const versions = { endpoints: '9', endpointslices: '9' };
const first = aSnapshot(1, [service, fact.pod('p')], versions);

let partition: TestPartition;

beforeEach(() => {
  partition = new TestPartition();
});

afterEach(() => partition.stop().catch(() => {}));

describe('the checkpoint', () => {
  test('is reported at the start and whenever it advances', async () => {
    const reported: (readonly number[])[] = [];
    const onCheckpoint = (offset: number, of: number) => void reported.push([offset, of]);
    await partition.start({ onCheckpoint });
    await partition.send(first);
    await partition.settle(1_000);
    expect(reported).toEqual([
      [0, 0],
      [1, 0],
    ]);
    await partition.restart({ onCheckpoint, fencingToken: 2 });
    expect(reported.at(-1)).toEqual([1, 0]);
  });

  test('releases the records before it', async () => {
    const released: number[] = [];
    const { bus } = partition;
    const read = bus.read.bind(bus);
    bus.read = (...args) => {
      const reader = read(...args);
      reader.release = (offset) => void released.push(offset);
      return reader;
    };
    await partition.start();
    await partition.send(first, aChange(2, []));
    expect(released).toEqual([1, 2]);
  });

  test('passes a malformed record only once that is kept', async () => {
    const kept = Promise.withResolvers<void>();
    await partition.start({ onDeadLetter: () => kept.promise });
    await partition.sendRaw(new TextEncoder().encode('{'));
    const offset = () => partition.store.peek('reconciler/0').checkpoint.offset;
    expect(offset()).toBe(0);
    kept.resolve();
    await partition.settle();
    expect(offset()).toBe(1);
  });

  test('is where a worker that has nothing to do leaves it, without a commit', async () => {
    await partition.start();
    await partition.send(first);
    await partition.stop();
    const before = partition.store.peek('reconciler/0');
    partition.store.commit = () => Promise.reject(new Error('committed'));
    await partition.start({ fencingToken: 2 });
    await partition.stop();
    expect(partition.store.peek('reconciler/0')).toEqual(before);
  });

  test('is the position and the id of the last record', async () => {
    const commits: StreamOffset[] = [];
    const commit = partition.store.commit.bind(partition.store);
    partition.store.commit = (one) => {
      commits.push(one.checkpoint);
      return commit(one);
    };
    await partition.start();
    const records = [1, 2].map((n) => ({
      key: keyText,
      id: `id-${n}`,
      headers: {},
      payload: encodeMessage(aChange(n, [])),
    }));
    await partition.bus.append('changes', 0, records);
    await partition.settle();
    expect(commits).toEqual([{ offset: 2, id: 'id-2', streamId: 'memory' }]);
  });
});

describe('the owner of a partition', () => {
  test('declares that it alone produces plans, from its claim to its end', async () => {
    const steps: string[] = [];
    const claim = partition.store.claim.bind(partition.store);
    partition.store.claim = (...args) => {
      steps.push('claimed');
      return claim(...args);
    };
    Object.assign(partition.bus, {
      produceExclusively: (topic: string, of: number) => {
        steps.push(`produces ${topic} ${of}`);
        return () => void steps.push('ended');
      },
    });
    await partition.start();
    expect(steps).toEqual(['claimed', 'produces mutations 0']);
    await partition.stop();
    expect(steps.at(-1)).toBe('ended');
  });

  test('lets the other workers of its process run before each batch', async () => {
    const deferred: (() => void)[] = [];
    const yieldQueue = new YieldQueue((callback) => void deferred.push(callback));
    await partition.start({ yieldQueue });
    await partition.send(first);
    expect(partition.reportedAs('applied')).toEqual([]);
    deferred.shift()?.();
    await partition.settle();
    expect(partition.reportedAs('applied')).toEqual([['change']]);
    for (const resume of deferred) resume();
  });

  test('decides nothing again under a token whose plan numbers are unreadable', async () => {
    const claim = partition.store.claim.bind(partition.store);
    partition.store.claim = async (...args) => ({
      ...(await claim(...args)),
      entries: [{ key: 'partition', field: 'lastPlan', value: 'garbage' }],
    });
    await partition.start({ isFirstRun: false });
    await expect(partition.stop()).rejects.toSatisfy(isFencedError);
    expect(await partition.requests()).toEqual([]);
  });

  test('resyncs what it cannot read under a new token', async () => {
    const claim = partition.store.claim.bind(partition.store);
    partition.store.claim = async (...args) => ({
      ...(await claim(...args)),
      entries: [{ key: 'partition', field: 'lastPlan', value: 'garbage' }],
    });
    await partition.start();
    expect(await partition.requests()).toMatchObject([{ scope: { partition: 0 }, reason: 'stored state unreadable' }]);
  });

  test('continues after a restart with what is in the store', async () => {
    await partition.start();
    await partition.send(first);
    await partition.restart({ isFirstRun: false });
    expect(await partition.requests()).toEqual([]);
    await partition.send(anOutcome(await partition.lastPlan()));
    expect(partition.reportedAs('completed')).toHaveLength(1);
  });
});

describe('the partitions of a process', () => {
  function processOptions(stop: AbortController) {
    const { bus, store, clock, logger } = partition;
    const settings = { ...defaultSettings, controllers: new Set(['endpointslice'] as const) };
    const random = { next: () => 0.5 };
    return { options: { bus, store, clock, logger, random, settings, fencingToken: 1 }, signal: stop.signal };
  }

  test('that are taken over are left alone; any other failure restarts the worker', async () => {
    const stop = new AbortController();
    const { options, signal } = processOptions(stop);
    let failing = true;
    const commit = partition.store.commit.bind(partition.store);
    partition.store.commit = async (one) => {
      if (failing) throw new Error('the store is away');
      return commit(one);
    };
    const ended = workPartition({ ...options, partition: 0 }, signal).catch((error: unknown) => error);
    await partition.send(first);
    failing = false;
    await partition.settle(1_000);
    expect(await partition.plans()).toHaveLength(1);
    expect(partition.logger.fields('error')).toMatchObject([{ partition: 0 }]);
    await partition.store.claim('reconciler/0', 2);
    await partition.send(aChange(2, []));
    expect(isFencedError(await ended)).toBe(true);
    stop.abort();
  });

  test('that have never had an owner are resynced', async () => {
    const stop = new AbortController();
    const { options, signal } = processOptions(stop);
    const claim = partition.store.claim.bind(partition.store);
    partition.store.claim = async (...args) => ({ ...(await claim(...args)), checkpoint: null });
    const running = runReconciler({ ...options, partitions: [0] }, signal);
    await partition.settle();
    expect(await partition.requests()).toMatchObject([{ scope: { partition: 0 } }]);
    stop.abort();
    await running;
  });

  test('end the process only if a worker fails for a reason that a restart does not fix', async () => {
    const stop = new AbortController();
    const { options, signal } = processOptions(stop);
    await partition.store.claim('reconciler/0', 2);
    const running = runReconciler({ ...options, partitions: [0] }, signal);
    await expect(running).resolves.toBeUndefined();
    expect(partition.logger.fields('warn')).toMatchObject([{ partition: 0 }]);
    stop.abort();
  });
});
