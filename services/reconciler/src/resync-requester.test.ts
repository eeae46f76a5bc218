import { MemoryBus, streamStart } from '@sluice/bus';
import { type Change, decodeMessage, digestFacts, type ResyncRequest } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { defaultSettings, evolve } from '@sluice/service-state';
import { aChange, aService, aSnapshot, fact, keyText } from '@sluice/service-state/testing';
import { MemoryStore } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { PartitionState } from './partition-state.ts';
import { LivenessProbe, ResyncRequester } from './resync-requester.ts';
import { recordingMetrics } from './testing/test-partition.ts';

describe('resync requester', () => {
  const start = 1_000_000;
  const probeAfterMs = 3_600_000;
  const service = { kind: 'service', service: aService() } as const;

  let clock: VirtualClock;
  let bus: MemoryBus;
  let state: PartitionState;
  let resyncs: ResyncRequester;
  let logger: RecordingLogger;
  let reported: ReturnType<typeof recordingMetrics>['calls'];

  beforeEach(() => {
    clock = new VirtualClock(start);
    bus = new MemoryBus({ partitions: 1 });
    logger = recordingLogger();
    const ports = { bus, store: new MemoryStore(), clock, random: seededRandom(1), logger };
    const { metrics, calls } = recordingMetrics();
    reported = calls;
    state = new PartitionState(ports, (key) => resyncs.remove(key));
    const options = { ...ports, partition: 3, fencingToken: 7, settings: defaultSettings, probeAfterMs };
    resyncs = new ResyncRequester(options, metrics, state.pendingResyncs);
  });

  /** Applies a snapshot of a Service. */
  function know(key: string, change: Change = aSnapshot(1, [service, fact.pod('p')])): void {
    evolve(state.service(key), change, clock.now(), defaultSettings);
  }

  const isComplete = (key: string) => state.service(key).snapshot.complete;

  /** Publishes what is due, and returns the records of all requests so far. */
  async function published() {
    await resyncs.publishRequests();
    if ((await bus.end('requests', 0)).offset === 0) return [];
    const records = await bus.read('requests', 0, streamStart).next(100);
    return records.map(({ id, payload }) => ({ id, ...(decodeMessage(payload) as ResyncRequest) }));
  }

  const scopes = async () => (await published()).map(({ scope }) => scope);

  describe('a gap', () => {
    const gap = (cluster: string) => resyncs.reportGap(state, { cluster, missing: '4..5' }, clock.now());

    test('is a warning only if there is a state that could be wrong: a first start is no incident', async () => {
      state.service('c/shop/web');
      gap('c');
      await resyncs.publishRequests();
      expect(logger.messages('info', 'warn')).toEqual(['change log begins without a snapshot; resyncing cluster']);
      know('other/shop/web');
      gap('other');
      await resyncs.publishRequests();
      expect(logger.messages('warn')).toEqual(['gap in change log; resyncing cluster']);
    });

    test('invalidates the Services of its cluster, which have work then, and no others', async () => {
      for (const key of ['c/shop/web', 'c/shop/db', 'other/shop/web']) know(key);
      gap('c');
      expect(['c/shop/web', 'c/shop/db', 'other/shop/web'].map(isComplete)).toEqual([false, false, true]);
      expect(await resyncs.publishRequests()).toEqual(['c/shop/web', 'c/shop/db']);
      expect(await resyncs.publishRequests()).toEqual([]);
    });

    test('needs no work for a Service that was dropped meanwhile', async () => {
      know('c/shop/web');
      gap('c');
      resyncs.remove('c/shop/web');
      expect(await resyncs.publishRequests()).toEqual([]);
    });

    test('is requested at once, and the next one of its cluster a second later', async () => {
      gap('c');
      expect(await scopes()).toEqual([{ partition: 3, cluster: 'c' }]);
      expect(resyncs.dueAt).toBeUndefined();
      clock.skipTo(start + 100);
      gap('c');
      gap('other');
      expect(await scopes()).toEqual([
        { partition: 3, cluster: 'c' },
        { partition: 3, cluster: 'other' },
      ]);
      expect(resyncs.dueAt).toBe(start + 1_000);
      clock.skipTo(start + 999);
      expect(await scopes()).toHaveLength(2);
      clock.skipTo(start + 1_000);
      expect(await scopes()).toHaveLength(3);
    });

    test('is stored as unseen until it is requested', async () => {
      const observed = aChange(3, [], { previousSequence: 0 });
      state.gaps.observe(observed);
      gap('c');
      expect(state.gaps.drainChanges()).toEqual([]);
      await published();
      expect(state.gaps.drainChanges()).toMatchObject([{ key: 'c', value: observed.stamp }]);
    });

    test('is forgotten with its cluster, as is when it was requested last', async () => {
      gap('c');
      await published();
      gap('c');
      resyncs.removeCluster('c');
      expect(resyncs.dueAt).toBeUndefined();
      expect(await scopes()).toHaveLength(1);
      gap('c');
      expect(await scopes()).toHaveLength(2);
    });
  });

  describe('a restored cluster', () => {
    const proof = aChange([2, 9], []);

    test('is requested once for the last proof', async () => {
      resyncs.reportRestore(aChange([2, 8], []), 'an older proof');
      resyncs.reportRestore(proof, 'Endpoints are older');
      expect(await published()).toMatchObject([
        { scope: { restoredCluster: 'c', stamp: proof.stamp }, reason: 'Endpoints are older' },
      ]);
      expect(await published()).toHaveLength(1);
    });

    test('is not requested once it is removed', async () => {
      resyncs.reportRestore(proof, 'Endpoints are older');
      resyncs.removeCluster('c');
      expect(await published()).toEqual([]);
    });
  });

  describe('a Change with the digest of a Service', () => {
    test('that does not match stops its decisions and is requested', async () => {
      know(keyText);
      const otherService = { ...service, service: aService({ uid: 'another' }) };
      const change = aChange(1, [], { digest: digestFacts([otherService, fact.pod('q')]) });
      resyncs.compare(keyText, state.service(keyText), change, clock.now());
      expect(reported).toEqual([['digestMismatch', ['service', 'pods']]]);
      expect(isComplete(keyText)).toBe(false);
      expect(await published()).toMatchObject([
        { scope: { key: { service: 'web' } }, reason: 'state digest mismatch in service,pods' },
      ]);
    });

    test('whose snapshot is missing is requested', async () => {
      resyncs.compare(keyText, state.service(keyText), aChange(1, [], { digest: digestFacts([service]) }), clock.now());
      expect(await published()).toMatchObject([{ scope: { key: { service: 'web' } }, reason: 'snapshot missing' }]);
      expect(reported).toEqual([]);
    });

    test('that cannot be compared needs nothing', async () => {
      know(keyText);
      resyncs.compare(keyText, state.service(keyText), aChange(1, []), clock.now());
      expect(await published()).toEqual([]);
      expect(isComplete(keyText)).toBe(true);
    });
  });

  describe('a Service without a recent Change', () => {
    test('is requested', async () => {
      resyncs.compare(keyText, state.service(keyText), aChange(1, []), clock.now());
      expect(resyncs.dueAt).toBe(start + probeAfterMs);
      expect(await published()).toEqual([]);
      clock.skipTo(start + probeAfterMs);
      expect(await scopes()).toMatchObject([{ key: { service: 'web' } }]);
      expect(resyncs.dueAt).toBe(start + 2 * probeAfterMs);
    });

    test('is not requested after it was dropped', () => {
      resyncs.observe(keyText, clock.now());
      resyncs.remove(keyText);
      expect(resyncs.dueAt).toBeUndefined();
    });
  });

  describe('an unreadable record', () => {
    test('is due at once, and again after a pause unless a snapshot resolves it', async () => {
      resyncs.reportUnreadable(keyText, 'not JSON');
      expect(resyncs.dueAt).toBe(start);
      expect((await published()).map(({ reason }) => reason)).toContain('unreadable record: not JSON');
      expect(resyncs.dueAt).toBeGreaterThan(start);
      resyncs.resolve(keyText);
      clock.skipTo(start + 3_600_000);
      expect(await published()).toHaveLength(1);
    });

    test('has a request with an id of its own each time, or a bus might drop it', async () => {
      resyncs.reportUnreadable(keyText, 'not JSON');
      resyncs.reportUnreadable('c/shop/db', 'not JSON');
      await published();
      clock.skipTo(start + 60_000);
      for (const cluster of ['c', 'd']) {
        resyncs.reportGap(state, { cluster, missing: '1..2' }, clock.now());
        const { key } = aChange(1, []);
        resyncs.reportRestore(aChange(1, [], { key: { ...key, cluster } }), 'Endpoints are older');
      }
      const ids = (await published()).map(({ id }) => id);
      expect(ids).toHaveLength(8);
      expect(new Set(ids).size).toBe(8);
    });
  });
});

const silenceMs = 1_000_000;
const minute = 60_000;

describe('a Service that no watcher publishes', () => {
  test('is probed after the silence, and again after another', () => {
    const probe = new LivenessProbe(silenceMs);
    expect(probe.dueAt).toBeUndefined();
    probe.observe('a', 0);
    expect(probe.dueAt).toBe(silenceMs);
    expect(probe.take(silenceMs - 1)).toBeUndefined();
    expect(probe.take(silenceMs)).toBe('a');
    expect(probe.take(silenceMs)).toBeUndefined();
    expect(probe.dueAt).toBe(2 * silenceMs);
  });

  test('is the one without Change for longest', () => {
    const probe = new LivenessProbe(silenceMs);
    probe.observe('a', 0);
    probe.observe('b', 1);
    probe.observe('a', 2);
    expect(probe.take(silenceMs + 2)).toBe('b');
  });

  test('is probed at most once per minute', () => {
    const probe = new LivenessProbe(silenceMs);
    for (const key of ['a', 'b']) probe.observe(key, 0);
    expect(probe.take(silenceMs)).toBe('a');
    expect(probe.dueAt).toBe(silenceMs + minute);
    expect(probe.take(silenceMs + minute - 1)).toBeUndefined();
    expect(probe.take(silenceMs + minute)).toBe('b');
  });

  test('is not probed once its state is dropped', () => {
    const probe = new LivenessProbe(silenceMs);
    probe.observe('a', 0);
    probe.remove('a');
    expect(probe.dueAt).toBeUndefined();
    expect(probe.take(10 * silenceMs)).toBeUndefined();
  });
});
