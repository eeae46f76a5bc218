import { type Delivery, LogTruncatedError, MemoryBus, streamStart, type Topic } from '@sluice/bus';
import {
  type Change,
  type ClusterRemoved,
  decodeMessage,
  digestFacts,
  encodeMessage,
  formatServiceKey,
  type Message,
  type Outcome,
  type PlannedMutations,
  type ResyncRequest,
} from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { type ControllerState, defaultSettings, type Settings } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import { type Commit, isFencedError, MemoryStore, type StoredEntry } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PartitionWorker } from './partition-worker.ts';
import { runReconciler, workPartition } from './reconciler.ts';
import { recordingMetrics } from './testing/test-partition.ts';

const settings: Settings = { ...defaultSettings, controllers: new Set(['endpointslice']) };
const service = { kind: 'service', service: aService() } as const;
const behind = { endpoints: '9', endpointslices: '9' };
const first = aSnapshot(1, [service, fact.pod('p')], behind);
let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
let stop: AbortController;
let running: Promise<void> | undefined;
let deadLetters: string[];
let logger: RecordingLogger;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  bus = new MemoryBus({ partitions: 1 });
  store = new MemoryStore();
  stop = new AbortController();
  deadLetters = [];
  logger = recordingLogger();
});

afterEach(async () => {
  stop.abort();
  await running?.catch(() => {});
});

function options(given: Partial<Settings> = {}, fencingToken = 1) {
  return {
    partition: 0,
    fencingToken,
    bus,
    store,
    clock,
    random: seededRandom(1),
    logger,
    settings: { ...settings, ...given },
    onDeadLetter: (_record: unknown, reason: string) => deadLetters.push(reason),
  };
}

function start(given: Partial<Settings> = {}, epoch = 1): void {
  stop = new AbortController();
  running = new PartitionWorker(options(given, epoch)).run(stop.signal);
  // Tests await failures later.
  running.catch(() => {});
}

async function restart(epoch = 1, given: Partial<Settings> = {}): Promise<void> {
  stop.abort();
  await running;
  start(given, epoch);
  await settle();
}

const settle = (ms = 0) => advance(clock, ms);

async function send(...messages: Exclude<Message, ResyncRequest | ClusterRemoved>[]): Promise<void> {
  for (const message of messages) await sendRaw(encodeMessage(message), formatServiceKey(message.key));
}

async function sendRaw(payload: Uint8Array, key: string): Promise<void> {
  await bus.append('changes', 0, [{ key, id: 'id', headers: {}, payload }]);
  await settle();
}

async function deliveries(topic: Topic = 'mutations'): Promise<readonly Delivery[]> {
  const reader = bus.read(topic, 0, streamStart);
  const next = reader.next(1_000);
  await settle();
  reader.close();
  return next;
}

async function requestReasons(): Promise<readonly string[]> {
  return (await deliveries('requests')).map(({ payload }) => (decodeMessage(payload) as ResyncRequest).reason);
}

/** All published plans, including repeated ones. */
const plans = async () => (await deliveries()).map(({ payload }) => decodeMessage(payload) as PlannedMutations);

const numbers = async () =>
  (await plans()).map(({ key: { service: name }, plan }) => `${name} ${plan.epoch}/${plan.number}`);

async function lastPlan(): Promise<PlannedMutations> {
  const plan = (await plans()).at(-1);
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

const of = (name: string, change: Change): Change => ({ ...change, key: { ...key, service: name } });

describe('a Change', () => {
  test('leads to a plan, which is committed with its offset', async () => {
    start();
    await send(first);
    expect(await numbers()).toEqual(['web 1/1']);
    const { checkpoint, entries } = store.peek('reconciler/0');
    expect(checkpoint.offset).toBe(1);
    const [plan] = await plans();
    expect(entries).toContainEqual({ key: keyText, field: 'controller/endpointslice:plan', value: plan });
  });

  test('while a plan is in flight is applied; one decision follows the Outcome', async () => {
    start();
    await send(first);
    for (let n = 2; n < 10; n++) await send(aChange(n, [fact.pod(`p${n}`)]));
    expect(await numbers()).toEqual(['web 1/1']);
    await send(anOutcome(await lastPlan()));
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
    expect((await lastPlan()).causes.first).toHaveLength(8);
  });
});

describe('timers', () => {
  test('a batch period ends although no message arrives', async () => {
    start({ batchPeriodMs: { ...settings.batchPeriodMs, endpointslice: 500 } });
    await send(first);
    await send(anOutcome(await lastPlan()));
    await send(aChange(2, [fact.pod('q')]));
    await settle(499);
    expect(await numbers()).toEqual(['web 1/1']);
    await settle(1);
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
  });

  test('large Endpoints have a cooldown after each write, and later changes are written after it', async () => {
    start({ controllers: new Set(['endpoints']) });
    const pods = Array.from({ length: 400 }, (_, i) => fact.pod(`p${i}`));
    await send(aSnapshot(1, [service, ...pods], behind));
    await send(anOutcome(await lastPlan()));
    await send(aChange(2, [fact.pod('q')]));
    await send(aChange(3, [fact.pod('r')]));
    await settle(99);
    expect(await numbers()).toEqual(['web 1/1']);
    await settle(1);
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
    expect((await lastPlan()).causes.first).toHaveLength(2);
  });

  test('a failed plan is retried, in the end with the slow retry, forever', async () => {
    start({ maxAttempts: 3 });
    await send(first);
    for (let n = 1; n <= 7; n++) {
      const refused: Partial<Outcome> = { status: 'rejected', results: [], message: 'forbidden' };
      await send(anOutcome(await lastPlan(), refused));
      expect(new Set(await numbers()).size).toBe(n);
      await settle(120_000);
      expect(new Set(await numbers()).size).toBe(n + 1);
    }
  });

  test('of a Service with a plan in flight wait for its Outcome', async () => {
    start();
    await send(first, aChange(2, [fact.pod('q')]));
    await settle(4_000);
    expect(await numbers()).toEqual(['web 1/1']);
  });

  test('a plan without Outcome is redelivered unchanged, with growing delays, until it arrives', async () => {
    start();
    await send(first);
    const sent: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      const before = (await plans()).length;
      await settle(60_000);
      if ((await plans()).length > before) sent.push(minute);
    }
    const all = await plans();
    expect(all.every((plan) => JSON.stringify(plan) === JSON.stringify(all[0]))).toBe(true);
    expect(sent.length).toBeGreaterThan(5);
    expect(all.length).toBeLessThan(15);
    expect(new Set((await deliveries()).map(({ id }) => id)).size).toBe(all.length);
    await send(anOutcome(await lastPlan()));
    await settle(3_600_000);
    expect(await plans()).toHaveLength(all.length);
    expect(clock.nextAt()).toBeUndefined();
  });
});

describe('loss', () => {
  const requests = async () =>
    (await deliveries('requests')).map(({ payload }) => decodeMessage(payload) as ResyncRequest);
  const distinct = async () => [...new Set(await numbers())];

  test('of the log: continues at its end, requests a resync and decides nothing before it', async () => {
    start();
    await send(first);
    stop.abort();
    await running;
    // Records that nobody has read are gone.
    await sendRaw(encodeMessage(aChange(2, [fact.pod('q')])), keyText);
    bus.read('changes', 0, streamStart).release(2);
    start();
    await settle();
    expect(await requests()).toMatchObject([{ kind: 'resync', scope: { partition: 0 } }]);
    expect(store.peek('reconciler/0').checkpoint.offset).toBe(2);
    await send(aChange(3, [fact.pod('r')]));
    expect(await distinct()).toEqual(['web 1/1']);
    await send(aSnapshot(4, [service, fact.pod('p'), fact.pod('q'), fact.pod('r')], behind));
    expect(await distinct()).toEqual(['web 1/1', 'web 1/2']);
  });

  test('of unread records: the gap shows, the partition is resynced and nothing is decided before', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    await send(anOutcome(await lastPlan()));
    await restart(2);
    await send(aChange(3, [fact.pod('q')], { previousSequence: 2 }));
    expect(await requests()).toMatchObject([{ scope: { partition: 0 } }]);
    expect(await distinct()).toEqual(['web 1/1']);
    await restart(3);
    await send(aChange(4, [fact.pod('r')], { previousSequence: 3 }));
    expect(await requests()).toHaveLength(1);
    expect(await distinct()).toEqual(['web 1/1']);
    await send({ ...aSnapshot(5, [service, fact.pod('p'), fact.pod('q')], behind), previousSequence: 4 });
    expect(await distinct()).toEqual(['web 1/1', 'web 3/2']);
  });

  test('of unread records of one cluster: only that cluster is resynced, and nothing waits', async () => {
    const ofOther = (change: Change, previousSequence: number): Change => ({
      ...{ ...change, previousSequence },
      key: { ...change.key, cluster: 'other' },
    });
    const other = (n: number, previousSequence: number) => ofOther(aChange(n, [fact.pod('q')]), previousSequence);
    start();
    await send({ ...first, previousSequence: 0 });
    await send(anOutcome(await lastPlan()));
    await send(ofOther(first, 0), other(3, 2), other(5, 4));
    expect((await requests()).map(({ scope }) => scope)).toEqual([{ partition: 0, cluster: 'other' }]);
    // The second gap's request waits; the other cluster's Changes do not.
    const before = (await plans()).length;
    await send(aChange(2, [fact.pod('r')], { previousSequence: 1 }));
    expect(await plans()).toHaveLength(before + 1);
    // A crash before that request: the next owner detects the gap again.
    await restart(2);
    await send(other(6, 5));
    expect((await requests()).map(({ scope }) => scope)).toEqual([
      { partition: 0, cluster: 'other' },
      { partition: 0, cluster: 'other' },
    ]);
  });

  test('of unread records, again and again: resyncs are requested at a limited rate', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    for (let n = 3; n < 20; n += 2) await send(aChange(n, [fact.pod('q')], { previousSequence: n - 1 }));
    expect(await requests()).toHaveLength(1);
    await settle(1_000);
    expect(await requests()).toHaveLength(2);
  });

  test('without a trace: the digest shows what differs, the Service is resynced, and nothing is decided before', async () => {
    const { metrics, calls } = recordingMetrics();
    const found = () => calls.flatMap(([method, parts]) => (method === 'digestMismatch' ? [parts] : []));
    running = new PartitionWorker({ ...options(), metrics: { open: () => metrics } }).run(stop.signal);
    await send(first);
    await send(anOutcome(await lastPlan()));
    // It names no facts, though Pod q came.
    await send(aChange(2, []));
    const known = [service, fact.pod('p'), fact.pod('q')] as const;
    await send(aChange(3, [], { digest: digestFacts([service, fact.pod('p')]), resourceVersions: behind }));
    expect([found(), await requests()]).toEqual([[], []]);
    await send(aChange(4, [], { digest: digestFacts(known), resourceVersions: behind }));
    expect(found()).toEqual([['pods']]);
    expect(await requests()).toMatchObject([{ scope: { key }, reason: expect.stringContaining('pods') }]);
    await send(aChange(5, [fact.pod('r')]));
    expect(await distinct()).toEqual(['web 1/1']);
    await send(aSnapshot(6, [...known, fact.pod('r')], behind));
    expect(await distinct()).toEqual(['web 1/1', 'web 1/2']);
    expect(found()).toHaveLength(1);
  });

  test('of commits, possibly: nothing is decided before a snapshot, and no Outcome is awaited', async () => {
    start();
    await send(first);
    stop.abort();
    await running;
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: false });
    start({}, 2);
    await settle(3_600_000);
    expect(await requests()).toHaveLength(1);
    expect(await distinct()).toEqual(['web 1/1']);
    await send(aSnapshot(2, [service, fact.pod('p')], behind));
    expect(await distinct()).toEqual(['web 1/1', 'web 2/2']);
  });

  test('of the whole store: continues at the end of the log', async () => {
    start();
    await send(first);
    stop.abort();
    await running;
    store = new MemoryStore();
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), checkpoint: null });
    start({}, 2);
    await settle();
    expect(await requests()).toHaveLength(1);
    expect(await distinct()).toEqual(['web 1/1']);
    await send(aSnapshot(2, [service, fact.pod('p')], behind));
    expect(await distinct()).toEqual(['web 1/1', 'web 2/1']);
  });

  test('of the whole store and log: a resync is requested', async () => {
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), checkpoint: null });
    start();
    await settle();
    expect(await requests()).toMatchObject([{ scope: { partition: 0 } }]);
  });

  test('of an empty log: the new one is read', async () => {
    let streamId = 'first';
    const { read } = bus;
    bus.end = async () => ({ offset: 0, id: '', streamId });
    bus.read = (topic, partition, after) => {
      const reader = read.call(bus, topic, partition, after);
      if (after.streamId !== '' && after.streamId !== streamId)
        reader.next = () => Promise.reject(new LogTruncatedError('recreated'));
      return reader;
    };
    await store.claim('reconciler/0', 1);
    const checkpoint = await bus.end('changes', 0);
    await store.commit({ scope: 'reconciler/0', fencingToken: 1, expectedOffset: 0, checkpoint, entries: [] });
    streamId = 'second';
    start();
    await settle();
    expect(await requests()).toHaveLength(1);
    await send(first);
    expect(await numbers()).toEqual(['web 1/1']);
  });

  test('twice at the same offset: each has a request of its own, or a bus might drop the second', async () => {
    let streamId = 'first';
    let lose = () => {};
    const ids: string[] = [];
    bus.append = async (_topic, _partition, records) => void ids.push(...records.map(({ id }) => id));
    bus.end = async () => ({ offset: 0, id: '', streamId });
    bus.read = () => {
      const { promise, reject } = Promise.withResolvers<readonly Delivery[]>();
      lose = () => reject(new LogTruncatedError('recreated'));
      return { streamId, next: () => promise, release() {}, close: () => reject(new Error('closed')) };
    };
    start();
    await settle();
    for (streamId of ['second', 'third']) {
      await settle(10);
      lose();
      await settle();
    }
    expect(ids).toHaveLength(2);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('of commits, possibly, while a worker restarts: it needs a new fencing token, or plans would share numbers', async () => {
    const claim = store.claim.bind(store);
    let claims = 0;
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: ++claims === 1 });
    const commit = store.commit.bind(store);
    store.commit = async () => {
      store.commit = commit;
      throw new Error('the store is away');
    };
    const ended = workPartition(options(), stop.signal).catch((error: unknown) => error);
    running = ended.then(() => {});
    await send(first);
    await settle(1_000);
    expect(isFencedError(await ended)).toBe(true);
    expect(await plans()).toEqual([]);
  });

  test('of a malformed record causes a resync of its Service', async () => {
    start();
    await sendRaw(new TextEncoder().encode('{'), keyText);
    expect(await requests()).toMatchObject([{ scope: { key } }]);
  });

  test.each(['while the worker runs', 'before a restart'])(
    'of a deletion: a Service that no watcher publishes is resynced in time, and its state dropped (%s)',
    async (when) => {
      const probeAfterMs = 3_600_000;
      const begin = () => {
        stop = new AbortController();
        running = new PartitionWorker({ ...options(), probeAfterMs }).run(stop.signal);
      };
      begin();
      await send({ ...first, previousSequence: 0 });
      await send(anOutcome(await lastPlan()));
      const [mutation] = (await lastPlan()).groups[0]?.mutations ?? [];
      if (mutation?.verb !== 'create') throw new Error('no slice is created');
      await send(of('other', aSnapshot(2, [], behind)));
      if (when === 'before a restart') {
        stop.abort();
        await running;
        begin();
      }
      await settle(probeAfterMs - 1);
      expect(await requests()).toEqual([]);
      await settle(1);
      expect(await requests()).toMatchObject([{ scope: { key } }]);
      // The Service was deleted with its slice.
      await send(aSnapshot(3, []));
      await settle(10_000);
      expect(store.peek('reconciler/0').entries.filter((entry) => entry.key === keyText)).toEqual([]);
      await settle(10 * probeAfterMs);
      expect(await requests()).toHaveLength(1);
    },
  );
});

describe('a deleted Service', () => {
  const keptOf = (owner: string) =>
    store.peek('reconciler/0').entries.flatMap(({ key, field }) => (key === owner ? [field] : []));

  /** It is there with a slice, and then nothing is. */
  async function comeAndGo(): Promise<void> {
    await send({ ...first, previousSequence: 0 });
    await send(anOutcome(await lastPlan()));
    const [mutation] = (await lastPlan()).groups[0]?.mutations ?? [];
    if (mutation?.verb !== 'create') throw new Error('no slice is created');
    const { name } = mutation.object.metadata;
    expect(keptOf(keyText)).toContain(`slice/${name}`);
    const facts = [fact.noService, fact.podGone('p'), fact.sliceGone(name, `stored-${name}`)];
    await send(aChange(2, facts, { previousSequence: 1 }));
    await settle(10_000);
  }

  test('leaves only entries of the partition in the store', async () => {
    start();
    await comeAndGo();
    expect(
      store
        .peek('reconciler/0')
        .entries.map(({ key, field }) => `${key} ${field}`)
        .sort(),
    ).toEqual(['c lastChange', 'partition lastPlan', 'partition publishedPlan', 'scope formatVersion']);
  });

  test('is not brought back by a late Change', async () => {
    start();
    await comeAndGo();
    await send({ ...first, previousSequence: 0 });
    expect(keptOf(keyText)).toEqual([]);
    expect(await numbers()).toEqual(['web 1/1']);
  });

  test('has plans with new numbers if it is created again, also after a restart', async () => {
    start();
    await comeAndGo();
    await restart();
    await send({ ...aSnapshot(3, [service, fact.pod('p')], behind), previousSequence: 2 });
    expect(new Set(await numbers())).toEqual(new Set(['web 1/1', 'web 1/2']));
  });

  test('is kept until its watcher, which is behind, has published that its objects are gone', async () => {
    start({ controllers: new Set(['endpointslicemirroring']) });
    await settle();
    const startRequests = await deliveries('requests');
    const slice = fact.slice('web-1', { manager: 'endpointslicemirroring-controller.k8s.io' });
    await send({ ...aSnapshot(1, [service, slice], behind), previousSequence: 0 });
    const plan = await lastPlan();
    expect(plan.groups[0]?.mutations).toMatchObject([{ verb: 'delete', name: 'web-1' }]);
    await send(anOutcome(plan));
    await send(aChange(2, [fact.noService], { previousSequence: 1, resourceVersions: behind }));
    await settle(10_000);
    const digest = digestFacts([slice]);
    await send(aChange(3, [], { previousSequence: 2, digest, resourceVersions: behind }));
    await settle(10_000);
    expect([await deliveries('requests'), logger.messages('error')]).toEqual([startRequests, []]);
    await send(aChange(4, [fact.sliceGone('web-1')], { previousSequence: 3, resourceVersions: behind }));
    await settle(10_000);
    expect(keptOf(keyText)).toEqual([]);
  });

  test('is kept while a plan is in flight', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    await send(aChange(2, [fact.noService, fact.podGone('p')], { previousSequence: 1 }));
    expect(keptOf(keyText)).toContain('controller/endpointslice');
  });
});

describe('a malformed record', () => {
  test.each([
    ['no JSON', new TextEncoder().encode('{'), keyText],
    ['of another major version', new TextEncoder().encode('{"version":"2.0","kind":"change"}'), keyText],
    ['under the key of another Service', encodeMessage(first), 'c/shop/db'],
    ['under no key', encodeMessage(first), 'web'],
    ['a plan', encodeMessage(plan()), keyText],
  ])('since it is %s, is dead-lettered, and its partition continues', async (_, payload, under) => {
    start();
    await sendRaw(payload, under);
    await send(first);
    expect(deadLetters).toHaveLength(1);
    expect(await numbers()).toEqual(['web 1/1']);
    expect(store.peek('reconciler/0').checkpoint.offset).toBe(2);
  });

  test('leaves the gap detection of other clusters on', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    await sendRaw(new TextEncoder().encode('{'), 'other/shop/web');
    await send(aChange(3, [fact.pod('q')], { previousSequence: 2 }));
    expect(await requestReasons()).toContain('gap in change log: cluster c, missing 2..2');
  });

  test('inside a snapshot does not make the snapshot complete', async () => {
    start();
    await send(first);
    await send(anOutcome(await lastPlan()));
    const [begin, , end] = [0, 1, 2].map((part) => ({
      ...aSnapshot(part + 2, part === 0 ? [service] : [fact.pod('q')], behind),
      snapshot: { first: part === 0, last: part === 2, initial: false, resourceVersions: behind },
    }));
    await send(begin as Change);
    await sendRaw(new TextEncoder().encode('{'), keyText);
    await send(end as Change);
    // Pod p was in the unreadable part.
    expect((await lastPlan()).groups[0]?.mutations[0]).toMatchObject({
      object: { endpoints: [{ targetRef: { name: 'p' } }, { targetRef: { name: 'q' } }] },
    });
    expect(await requestReasons()).toContainEqual(expect.stringContaining('unreadable record'));
  });

  test('is requested again by the next owner, until a snapshot answers', async () => {
    start();
    await sendRaw(new TextEncoder().encode('{'), keyText);
    const count = (await requestReasons()).length;
    await restart(2);
    expect(await requestReasons()).toHaveLength(count + 1);
    await send(first);
    await restart(3);
    expect(await requestReasons()).toHaveLength(count + 1);
  });

  test('that fails to apply stops its Service until the next snapshot, and nothing else', async () => {
    let failing = true;
    const policy: Settings['policy'] = {
      ...settings.policy,
      affected(state, changed, resynced) {
        if (failing && changed.kind === 'pod' && changed.name === 'q') throw new Error('cannot apply');
        return settings.policy.affected(state, changed, resynced);
      },
    };
    start({ policy });
    await send(first);
    await send(anOutcome(await lastPlan()));
    await send(aChange(2, [fact.podGone('p'), fact.pod('q')]), of('db', first));
    expect(deadLetters).toEqual(['cannot apply']);
    expect(await numbers()).toEqual(['web 1/1', 'db 1/2']);
    await settle(3_600_000);
    expect((await requestReasons()).length).toBeLessThan(20);
    failing = false;
    await send(aSnapshot(9, [service, fact.pod('q')], behind));
    expect(await numbers()).toContain('web 1/3');
  });

  test('is dead-lettered once, not again after a restart', async () => {
    start();
    await sendRaw(new TextEncoder().encode('{'), keyText);
    await restart();
    expect(deadLetters).toHaveLength(1);
  });
});

describe('a Service whose decision fails', () => {
  const broken = aSnapshot(1, [{ kind: 'service', service: aService({ ports: [null as never] }) }]);

  test('is parked; the others of its partition continue', async () => {
    const worker = { ...options(), settings: new Proxy(settings, undecidable(1)) };
    running = new PartitionWorker(worker).run(stop.signal);
    await send(first, of('db', first));
    expect(await numbers()).toEqual(['db 1/1']);
    expect(logger.fields('error')).toMatchObject([{ key: keyText, reason: expect.stringContaining('undecidable') }]);
    expect(store.peek('reconciler/0').checkpoint.offset).toBe(2);
  });

  test('is retried after a while, and with any change', async () => {
    const worker = { ...options(), settings: new Proxy(settings, undecidable(2)) };
    running = new PartitionWorker(worker).run(stop.signal);
    await send(first);
    await settle(59_999);
    expect(logger.fields('error')).toHaveLength(1);
    await settle(1);
    expect(logger.fields('error')).toHaveLength(2);
    await send(aChange(2, [fact.pod('q')]));
    expect(logger.fields('error')).toHaveLength(2);
    expect(await numbers()).toEqual(['web 1/1']);
  });

  test('because its Change is malformed, is dead-lettered', async () => {
    start();
    await send(broken, of('db', first));
    expect(deadLetters).toHaveLength(1);
    expect(await numbers()).toEqual(['db 1/1']);
  });
});

describe('work without a plan', () => {
  const startPatient = (epoch = 1, isVolatile = false) => {
    running = new PartitionWorker({ ...options({}, epoch), commitIntervalMs: 100, isVolatile }).run(stop.signal);
    running.catch(() => {});
  };
  const offset = () => store.peek('reconciler/0').checkpoint.offset;

  test('waits for the commit of the next plan, or for its deadline', async () => {
    startPatient();
    await send(first);
    expect(offset()).toBe(1);
    await send(anOutcome(await lastPlan()));
    await settle(99);
    expect(offset()).toBe(1);
    await settle(1);
    expect(offset()).toBe(2);
    await send(aChange(2, [fact.pod('q')]));
    expect(offset()).toBe(3);
    await send(anOutcome(await lastPlan()));
    await send(aChange(3, [fact.pod('r')]));
    expect(offset()).toBe(5);
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2', 'web 1/3']);
  });

  test('and with one waits for its deadline if the store ends with the process', async () => {
    startPatient(1, true);
    await send(first);
    expect((await lastPlan()).plan.number).toBe(1);
    expect(offset()).toBe(0);
    await settle(100);
    expect(offset()).toBe(1);
  });

  test('is committed on shutdown', async () => {
    startPatient();
    await send(first);
    await send(anOutcome(await lastPlan()));
    stop.abort();
    await running;
    expect(offset()).toBe(2);
  });

  test('is applied again by a new owner before that', async () => {
    startPatient();
    await send(first);
    await send(anOutcome(await lastPlan()));
    const former = running;
    startPatient(2);
    await settle();
    await send(aChange(2, [fact.pod('q')]));
    await expect(former).rejects.toSatisfy(isFencedError);
    // In the store it is not known to be published: the same record again, which a bus drops.
    expect(await numbers()).toEqual(['web 1/1', 'web 1/1', 'web 2/2']);
  });

  test('does not wait if there is too much', async () => {
    startPatient();
    await send(first);
    await bus.append(
      'changes',
      0,
      Array.from({ length: 300 }, (_, i) => ({
        ...{ key: keyText, id: `${i}`, headers: {} },
        payload: encodeMessage(aChange(2 + i, [fact.pod('q')])),
      })),
    );
    await settle();
    expect(offset()).toBe(257);
  });
});

describe('after a restart', () => {
  test('a committed plan that may not have been published is published again, unchanged', async () => {
    start();
    await send(first);
    const [before] = await plans();
    // The former owner hangs; one that stops in order stores that its plans are published.
    const former = { stop, running };
    start({}, 2);
    await settle();
    expect(await plans()).toEqual([before, before]);
    former.stop.abort();
    expect(await former.running?.catch(isFencedError)).toBe(true);
  });

  test('a worker that stops in order leaves no plan to publish again', async () => {
    start();
    await send(first);
    await send(of('db', first));
    await restart(2);
    expect(await numbers()).toEqual(['web 1/1', 'db 1/2']);
  });

  test('work continues from what a store keeps: plain data', async () => {
    start();
    await send(first);
    await send(anOutcome(await lastPlan()));
    stop.abort();
    await running;
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => {
      const state = await claim(scope, epoch);
      const entries = state.entries.map((entry) => ({ ...entry, value: JSON.parse(JSON.stringify(entry.value)) }));
      expect(entries).toEqual(state.entries);
      return { ...state, entries };
    };
    start({}, 2);
    await send(aChange(2, [fact.pod('q')]));
    expect(await numbers()).toEqual(['web 1/1', 'web 2/2']);
    expect(logger.fields('error')).toEqual([]);
  });

  test('a plan that was not published at all is published', async () => {
    start();
    let away = true;
    const append = bus.append.bind(bus);
    bus.append = async (topic, partition, records) => {
      if (away && topic === 'mutations') throw new Error('the bus is away');
      return append(topic, partition, records);
    };
    await send(first);
    await expect(running).rejects.toThrow('away');
    expect(await plans()).toEqual([]);
    away = false;
    start();
    expect(await numbers()).toEqual(['web 1/1']);
    await send(anOutcome(await lastPlan()));
    await send(aChange(2, [fact.pod('q')]));
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
  });

  test('applied records are known, plans in flight awaited, due decisions made', async () => {
    start();
    await send(first, of('db', first));
    await send(aChange(2, [fact.pod('q')]));
    await restart(2);
    const [web] = await plans();
    if (web === undefined) throw new Error('no plan');
    await send(anOutcome(web));
    const next = await lastPlan();
    expect(next.plan).toEqual({ epoch: 2, number: 3 });
    expect(JSON.stringify(next.groups)).toContain('uid-q');
  });

  test('decisions that are due later are made then', async () => {
    const batched = { batchPeriodMs: { ...settings.batchPeriodMs, endpointslice: 500 } };
    start(batched);
    await send(first);
    await send(anOutcome(await lastPlan()), aChange(2, [fact.pod('q')]));
    await restart(1, batched);
    await settle(499);
    expect(await numbers()).toEqual(['web 1/1']);
    await settle(1);
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
  });

  test('decisions about zone ratios keep their pace; an overloaded Service does not wait', async () => {
    const ratios = (zoneRatios: Record<string, number> | null) =>
      ({ kind: 'topology', topology: { zoneRatios, nodesByZone: { a: 1, b: 1 } }, hintedServices: 1000 }) as const;
    const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
    const hinted = { kind: 'service', service: aService({ annotations }) } as const;
    const pods = ['a', 'b'].flatMap((zone) => [1, 2, 3, 4, 5].map((i) => fact.pod(`${zone}-${i}`, true, zone)));
    const withRatios = (zoneRatios: Record<string, number> | null) =>
      aSnapshot(1, [hinted, ratios(zoneRatios), ...pods], behind);
    start();
    await send(withRatios(null), of('db', withRatios({ a: 0.5, b: 0.5 })));
    for (const plan of await plans()) await send(anOutcome(plan));
    const skewed = aChange(2, [ratios({ a: 0.2, b: 0.8 })]);
    await send(skewed, of('db', skewed));
    expect(await numbers()).toEqual(['web 1/1', 'db 1/2', 'db 1/3']);
    const queued = store.peek('reconciler/0').entries.find(({ field }) => field === 'controller/endpointslice');
    const topologyDueAt = (queued?.value as ControllerState | undefined)?.timers.topologyDueAt;
    if (topologyDueAt === undefined) throw new Error('web does not wait');
    expect(topologyDueAt).toBeLessThan(clock.now() + 100_000);
    await send(anOutcome(await lastPlan()));
    await restart(2);
    await settle(topologyDueAt - clock.now() - 1);
    expect(await numbers()).toEqual(['web 1/1', 'db 1/2', 'db 1/3']);
    await settle(1);
    const { groups, ...last } = await lastPlan();
    expect([last.key.service, last.plan]).toEqual(['web', { epoch: 2, number: 4 }]);
    expect(JSON.stringify(groups)).toContain('"forZones":[{"name":"b"}]');
  });

  test('a failed commit is as if no record had arrived (B9)', async () => {
    const commit = store.commit.bind(store);
    store.commit = async () => {
      throw new Error('the store is away');
    };
    running = runReconciler({ ...options(), partitions: [0] }, stop.signal);
    await send(first);
    expect(await plans()).toEqual([]);
    store.commit = commit;
    await settle(4_000);
    expect(await numbers()).toEqual(['web 1/1']);
  });
});

test('a worker whose lease has expired publishes nothing; its successor does', async () => {
  let current = true;
  running = new PartitionWorker({ ...options(), isCurrent: () => current }).run(stop.signal);
  const failed = expect(running).rejects.toMatchObject({ code: 'FENCED' });
  await settle();
  current = false;
  await send(first);
  await failed;
  expect(await plans()).toEqual([]);
  start({}, 2);
  await settle();
  expect(await numbers()).toEqual(['web 1/1']);
});

test('a worker whose lease has expired requests no resync for records that its successor has released', async () => {
  let current = true;
  let release = () => {};
  let requested = 0;
  bus.append = async (_topic, _partition, records) => {
    requested += records.length;
  };
  bus.read = () => {
    const { promise, reject } = Promise.withResolvers<readonly Delivery[]>();
    release = () => reject(new LogTruncatedError('released'));
    return { streamId: 'memory', next: () => promise, release() {}, close: () => reject(new Error('closed')) };
  };
  running = new PartitionWorker({ ...options(), isCurrent: () => current }).run(stop.signal);
  const failed = expect(running).rejects.toMatchObject({ code: 'FENCED' });
  await settle();
  current = false;
  release();
  await failed;
  expect(requested).toBe(0);
});

describe('a worker whose partition was taken over', () => {
  const takeOver: Commit = {
    scope: 'reconciler/0',
    fencingToken: 2,
    expectedOffset: 1,
    checkpoint: { offset: 1, id: '', streamId: 'memory' },
    entries: [],
  };

  test('stops at its next commit and publishes nothing', async () => {
    start();
    await send(first);
    await store.commit(takeOver);
    const before = store.peek('reconciler/0');
    await send(of('db', first));
    await expect(running).rejects.toMatchObject({ code: 'FENCED' });
    expect(await numbers()).toEqual(['web 1/1']);
    expect(store.peek('reconciler/0')).toEqual(before);
  });

  test('is not restarted', async () => {
    running = runReconciler({ ...options(), partitions: [0] }, stop.signal);
    await send(first);
    await store.commit(takeOver);
    await send(of('db', first));
    await running;
    expect(clock.nextAt()).toBeUndefined();
  });
});

describe('shutdown', () => {
  test('happens at once, also before the start', async () => {
    start();
    stop.abort();
    await running;
    expect(clock.nextAt()).toBeUndefined();
  });

  test('follows the closing of the bus, and leaves no timer', async () => {
    start({ batchPeriodMs: { ...settings.batchPeriodMs, endpointslice: 500 } });
    await send(first);
    await send(anOutcome(await lastPlan()), aChange(2, [fact.pod('q')]));
    expect(clock.nextAt()).toBe(clock.now() + 500);
    await bus.close();
    await running;
    expect(clock.nextAt()).toBeUndefined();
  });
});

function plan(): PlannedMutations {
  const { causes } = first;
  const base = {
    controller: 'endpointslice',
    plan: { epoch: 1, number: 1 },
    groups: [],
    events: [],
    incomplete: [],
  } as const;
  return { kind: 'mutations', key, ...base, serviceUid: '', causes, decidedAt: 1 };
}

/** Settings that make the first so many decisions fail. */
function undecidable(times: number): ProxyHandler<Settings> {
  let left = times;
  return {
    get(target, property) {
      if (property === 'maxEndpointsPerSlice' && left-- > 0) throw new Error('undecidable');
      return Reflect.get(target, property);
    },
  };
}

describe('a removed cluster', () => {
  const remove = (cluster: string, epoch: number, under = cluster) =>
    sendRaw(encodeMessage({ kind: 'clusterRemoved', cluster, epoch }), under);
  const stored = () => store.peek('reconciler/0').entries.map((entry) => entry.key);
  const requests = async () => (await deliveries('requests')).map(({ payload }) => decodeMessage(payload));
  const elsewhere = { ...key, cluster: 'd' };

  test('leaves nothing behind, and nothing of another cluster is lost', async () => {
    start();
    await send({ ...first, previousSequence: 0 }, { ...first, key: elsewhere, previousSequence: 0 });
    expect(new Set(stored())).toEqual(new Set([keyText, 'c', formatServiceKey(elsewhere), 'd', 'partition', 'scope']));
    await remove('c', 1);
    expect(new Set(stored())).toEqual(new Set([formatServiceKey(elsewhere), 'd', 'partition', 'scope']));
    await restart(2);
    const before = (await plans()).length;
    await send({ ...aChange(2, [fact.pod('q')]), key: elsewhere, previousSequence: 1 });
    const [plan] = (await plans()).filter((one) => one.key.cluster === 'd');
    if (plan === undefined) throw new Error('no plan');
    await send(anOutcome(plan));
    expect((await plans()).length).toBe(before + 1);
    expect(await requests()).toEqual([]);
  });

  test.each([
    ['while its plan waits for the bus', true],
    ['while its plan waits for an Outcome', false],
  ])('%s leaves the outbox: nobody publishes its plan again', async (_, waitsForBus) => {
    const append = bus.append.bind(bus);
    if (waitsForBus)
      bus.append = (topic, ...rest) =>
        topic === 'mutations' ? Promise.reject(new Error('the bus is down')) : append(topic, ...rest);
    start();
    await send({ ...first, previousSequence: 0 });
    bus.append = append;
    expect(await numbers()).toEqual(waitsForBus ? [] : ['web 1/1']);
    expect(stored()).toContain(keyText);
    if (waitsForBus) await expect(running).rejects.toThrow('the bus is down');
    else await restart(2);
    await remove('c', 1);
    // The next owner publishes the plan, because it reads of the removal only afterwards.
    if (waitsForBus) start({}, 3);
    await settle(600_000);
    expect(await numbers()).toEqual(['web 1/1']);
    await restart(4);
    await settle(600_000);
    expect(await numbers()).toEqual(['web 1/1']);
    expect(stored()).not.toContain(keyText);
  });

  test('starts from the beginning if it comes back', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    await remove('c', 1);
    await send({ ...aSnapshot([2, 1], [service, fact.pod('q')], behind), previousSequence: 0 });
    expect(await numbers()).toEqual(['web 1/1', 'web 1/2']);
    expect(await requests()).toEqual([]);
  });

  test('that still exists: nothing is written before the resync that is requested', async () => {
    start();
    await send({ ...first, previousSequence: 0 });
    await send(anOutcome(await lastPlan()));
    const before = await numbers();
    await remove('c', 1);
    await send(aChange(2, [fact.podGone('p')], { previousSequence: 1 }));
    await settle(60_000);
    expect(await requests()).toMatchObject([{ scope: { partition: 0 } }]);
    expect(await numbers()).toEqual(before);
    await send({ ...aSnapshot(3, [service, fact.pod('p'), fact.pod('q')], behind), previousSequence: 2 });
    expect(await numbers()).toHaveLength(before.length + 1);
  });

  test('is kept if a later watcher has published since', async () => {
    start();
    await send({ ...aSnapshot([2, 1], [service, fact.pod('p')], behind), previousSequence: 0 });
    const before = new Set(stored());
    await remove('c', 1);
    expect(new Set(stored())).toEqual(before);
  });

  test.each([
    ['under the key of another', 'd'],
    ['under the key of a Service', keyText],
  ])('%s is kept, and the message is dead-lettered', async (_, under) => {
    start();
    await send({ ...first, previousSequence: 0 });
    await remove('c', 1, under);
    expect(deadLetters).toEqual([`removal of cluster c under key ${under}`]);
    expect(stored()).toContain(keyText);
  });
});

describe('a first start', () => {
  test('resyncs the partition and logs no warning', async () => {
    const claim = store.claim.bind(store);
    store.claim = async (...args) => ({ ...(await claim(...args)), checkpoint: null });
    running = new PartitionWorker(options()).run(stop.signal);
    await settle();
    expect(logger.messages('info', 'warn', 'error')).toEqual([]);
  });

  test.each<readonly [string, (entry: StoredEntry) => StoredEntry]>([
    ['another form', (entry) => (entry.field === 'formatVersion' ? { ...entry, value: 1 } : entry)],
    [
      'an unknown entry',
      (entry) => (entry.field === 'publishedPlan' ? { key: 'unknown', field: 'unknown', value: 1 } : entry),
    ],
  ])('of %s are discarded, and the partition is resynced', async (_, rewrite) => {
    start();
    await send(first);
    stop.abort();
    await running;
    const [entries, checkpoint] = [store.peek('reconciler/0').entries, store.peek('reconciler/0').checkpoint];
    const removals = entries.map(({ key: of, field }) => ({ key: of, field, value: undefined }));
    const commit = { scope: 'reconciler/0', fencingToken: 1, expectedOffset: checkpoint.offset, checkpoint };
    await store.commit({ ...commit, entries: [...removals, ...entries.map(rewrite)] });
    await restart(2);
    expect(await deliveries('requests')).toHaveLength(1);
    const left = store.peek('reconciler/0').entries.map(({ key: name, field }) => `${name} ${field}`);
    expect(left).toEqual(['scope formatVersion']);
    await send(aSnapshot([2, 1], [service, fact.pod('p')], behind));
    expect(await numbers()).toEqual(['web 1/1', 'web 2/1']);
  });
});
