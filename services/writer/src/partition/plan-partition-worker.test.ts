import { LogTruncatedError, MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage, encodeMessage, formatServiceKey, type Outcome, type PlannedMutations } from '@sluice/messages';
import type { EventToRecord, Mutation } from '@sluice/model';
import { type LogFields, type Logger, seededRandom, silentLogger, VirtualClock, YieldQueue } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Commit, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultRetry } from '../apply/apply-plan.ts';
import { runWriter } from '../run-writer.ts';
import { AdaptiveLimit } from '../scheduling/adaptive-limit.ts';
import { FixedLimit, type RequestLimit, unlimited } from '../scheduling/request-limit.ts';
import { RetryLimit } from '../scheduling/retry-limit.ts';
import { aPlan, create, remove, someEndpoints, update } from '../testing/plans.ts';
import { apiError, conflict, forbidden, ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { PlanPartitionWorker } from './plan-partition-worker.ts';
import type { PlanPartitionWorkerOptions } from './plan-partition-worker-options.ts';

let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
let cluster: ScriptedCluster;
let recorded: EventToRecord[];
let deadLettered: string[];
let limit: RequestLimit;
let retryLimit: RetryLimit | undefined;
let controllerLimits: WritableCluster['controllerLimits'] & {};
let stop: AbortController;
let requests: AbortController;
let commitIntervalMs: number;
let running: Promise<unknown> | undefined;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new MemoryBus({ partitions: 1 });
  store = new MemoryStore();
  cluster = new ScriptedCluster();
  recorded = [];
  deadLettered = [];
  limit = unlimited;
  retryLimit = undefined;
  controllerLimits = {};
  stop = new AbortController();
  requests = new AbortController();
  commitIntervalMs = 0;
});

afterEach(async () => {
  stop.abort();
  cluster.openAll();
  await bus.close();
  await running?.catch(() => {});
});

function options(): PlanPartitionWorkerOptions {
  return {
    partition: 0,
    fencingToken: 1,
    bus,
    store,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    retry: defaultRetry,
    commitIntervalMs,
    requestSignal: requests.signal,
    cluster: (identity) =>
      identity === 'c'
        ? {
            writer: cluster,
            limit,
            retryLimit,
            controllerLimits,
            record: (events) => void recorded.push(...events),
          }
        : undefined,
    onDeadLetter: (_record, reason) => deadLettered.push(reason),
  };
}

function start(): void {
  running = new PlanPartitionWorker(options()).run(stop.signal);
}

const settle = (ms = 0) => advance(clock, ms);

/** Publishes plans once the worker, if there is one, has restored its progress. */
async function send(...plans: PlannedMutations[]): Promise<void> {
  await settle();
  const records = plans.map((plan) => {
    const key = formatServiceKey(plan.key);
    const id = `${key}/${plan.controller}/${plan.plan.epoch}/${plan.plan.number}`;
    return { key, id, headers: {}, payload: encodeMessage(plan) };
  });
  await bus.append('mutations', 0, records);
  await settle();
}

/** All Outcomes so far, one line each. */
async function outcomes(): Promise<string[]> {
  return (await all()).map(({ key, controller, plan, status }) => {
    return `${key.service} ${controller} ${plan.epoch}/${plan.number} ${status}`;
  });
}

async function all(): Promise<Outcome[]> {
  const reader = bus.read('changes', 0, streamStart);
  const next = reader.next(1_000);
  await settle();
  reader.close();
  const records = await next;
  return records.map(({ payload }) => decodeMessage(payload) as Outcome);
}

const checkpoint = () => store.peek('writer/0').checkpoint.offset;

describe('a plan', () => {
  test('is applied, reported to the reconciler and committed', async () => {
    start();
    await send(aPlan([[create('a')]]));
    expect(cluster.requests).toEqual(['create a']);
    expect(await all()).toMatchObject([
      {
        kind: 'outcome',
        key: { cluster: 'c', namespace: 'shop', service: 'web' },
        status: 'applied',
        results: [{ name: 'a', status: 'applied' }],
        causes: { first: [{ description: 'test' }] },
        decidedAt: 2,
        completedAt: 1_000,
      },
    ]);
    expect(checkpoint()).toBe(1);
  });

  test('reports the number of retries and the reason of a failure', async () => {
    cluster.fails('create a', unavailable, unavailable, forbidden);
    start();
    await send(aPlan([[create('a')]]));
    await settle(60_000);
    expect(await all()).toMatchObject([{ status: 'rejected', message: 'terminal 403', retries: 2 }]);
  });

  test('whose retry exceeds the limit of retries is returned, with the time after which it is permitted (B3)', async () => {
    let delayed = 0;
    retryLimit = new RetryLimit({ perSecond: 0.2, clock, onDelayed: () => delayed++ });
    cluster.fails('create a', unavailable, unavailable, unavailable);
    start();
    await send(aPlan([[create('a')]]));
    await settle(20_000);
    // A burst of two: both retries of the writer. The next one is permitted five seconds after the first.
    const [outcome] = await all();
    expect(outcome).toMatchObject({ status: 'unavailable', retries: 2 });
    expect(outcome?.retryAfterMs).toBeGreaterThan(0);
    expect(outcome?.retryAfterMs).toBeLessThanOrEqual(5_000);
    expect(delayed).toBe(1);
    await settle(60_000);
    await send(aPlan([[create('c')]], { service: 'db' }));
    expect((await all()).at(-1)).not.toHaveProperty('retryAfterMs');
  });

  test('that ended in a conflict counts as a retry, and one that was rejected does not (B3)', async () => {
    retryLimit = new RetryLimit({ perSecond: 0.1, clock, onDelayed: () => {} });
    cluster.fails('update a', forbidden, conflict, conflict);
    start();
    for (const number of [1, 2, 3]) await send(aPlan([[update('a')]], { number }));
    const [rejected, first, second] = await all();
    expect([rejected?.status, first?.status, second?.status]).toEqual(['rejected', 'conflict', 'conflict']);
    expect([rejected?.retryAfterMs, first?.retryAfterMs]).toEqual([undefined, undefined]);
    expect(second?.retryAfterMs).toBeGreaterThan(0);
  });

  test('asks for a cooldown, a longer one of Endpoints, while requests of the cluster are slow', async () => {
    limit = { ...unlimited, excessMs: 20 };
    start();
    const endpoints: Mutation = { verb: 'update', resource: 'endpoints', object: someEndpoints };
    await send(aPlan([[update('a')]]), aPlan([[endpoints]], { controller: 'endpoints' }));
    const [ofSlices, ofEndpoints] = (await all()).toSorted((a, b) => b.controller.localeCompare(a.controller));
    expect(ofSlices).toMatchObject({ controller: 'endpointslice', status: 'applied', cooldownMs: 40 });
    expect(ofEndpoints).toMatchObject({ controller: 'endpoints', status: 'applied', cooldownMs: 1_000 });
  });

  test('runs beside those of other controllers, within the limit of its own', async () => {
    controllerLimits = { endpointslice: new FixedLimit(1) };
    cluster.shut('create a');
    start();
    const endpoints = { controller: 'endpoints', service: 'db' } as const;
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { service: 'db' }), aPlan([[create('c')]], endpoints));
    expect(cluster.requests).toEqual(['create a', 'create c']);
    cluster.openAll();
    await settle();
    expect(cluster.requests).toEqual(['create a', 'create c', 'create b']);
  });

  test('says when its first request was sent, which is not when it was decided', async () => {
    limit = new FixedLimit(1);
    cluster.shut('create a');
    cluster.fails('create b', unavailable);
    start();
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { service: 'db' }));
    await settle(700);
    cluster.open('create a');
    await settle(60_000);
    const [first, second] = await all();
    expect(first).toMatchObject({ startedAt: 1_000, completedAt: 1_700 });
    expect(second).toMatchObject({ startedAt: 1_700, retries: 1 });
    expect(second?.completedAt).toBeGreaterThan(1_700);
  });

  test('does not wait for plans of other Services', async () => {
    cluster.shut('create a');
    start();
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { service: 'db' }));
    expect(await outcomes()).toEqual(['db endpointslice 1/1 applied']);
  });

  test("waits for the previous plan of its Service and controller, but not for another controller's", async () => {
    cluster.shut('create a');
    start();
    await send(
      aPlan([[create('a')]]),
      aPlan([[create('b')]], { number: 2 }),
      aPlan([[create('c')]], { controller: 'endpointslicemirroring' }),
    );
    expect(cluster.requests).toEqual(['create a', 'create c']);
    cluster.open('create a');
    await settle();
    expect(cluster.requests).toEqual(['create a', 'create c', 'create b']);
  });
});

test('reading plans in batches yields to the event loop between them', async () => {
  const deferred: (() => void)[] = [];
  const yieldQueue = new YieldQueue((callback) => deferred.push(callback));
  await send(...Array.from({ length: 200 }, (_, i) => aPlan([[update(`s${i}`)]], { service: `s${i}`, number: i + 1 })));
  running = new PlanPartitionWorker({ ...options(), yieldQueue }).run(stop.signal);
  const begun: number[] = [];
  for (const _ of [1, 2]) {
    await settle();
    expect(deferred).toHaveLength(1);
    begun.push(cluster.requests.length);
    deferred.shift()?.();
    await settle();
  }
  expect(begun).toEqual([0, 128]);
  expect(cluster.requests).toHaveLength(200);
  for (const give of deferred.splice(0)) give();
});

describe('a plan is not applied', () => {
  test("if a newer owner's plan for the same Service was applied before", async () => {
    start();
    await send(aPlan([[create('a')]], { epoch: 2 }));
    await send(aPlan([[create('b')]], { epoch: 1, number: 9 }));
    expect(cluster.requests).toEqual(['create a']);
    expect(await outcomes()).toEqual(['web endpointslice 2/1 applied', 'web endpointslice 1/9 conflict']);
    expect(checkpoint()).toBe(2);
  });

  test('if it was applied before; the Outcome makes the reconciler decide again', async () => {
    start();
    const plan = aPlan([[create('a'), remove('web-bbbbb')]]);
    await send(plan);
    await send(plan);
    expect(cluster.requests).toHaveLength(2);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied', 'web endpointslice 1/1 conflict']);
  });

  test('if it was applied beyond the checkpoint, which waits for another plan', async () => {
    cluster.shut('create a');
    start();
    await send(aPlan([[create('a')]]));
    const later = aPlan([[create('b')]], { service: 'db', number: 2 });
    await send(later, later);
    await send(later);
    expect(checkpoint()).toBe(0);
    expect(cluster.requests).toEqual(['create a', 'create b']);
    expect(await outcomes()).toEqual(['db endpointslice 1/2 applied', 'db endpointslice 1/2 conflict']);
  });

  test('if it was applied before a restart', async () => {
    start();
    const plan = aPlan([[create('a')]]);
    await send(plan);
    stop.abort();
    await running;
    stop = new AbortController();
    start();
    await send(plan);
    expect(cluster.requests).toEqual(['create a']);
    expect((await outcomes()).at(-1)).toBe('web endpointslice 1/1 conflict');
  });

  test('if it is redelivered while it is being applied: both records have one Outcome', async () => {
    cluster.shut('create a');
    start();
    const plan = aPlan([[create('a')]]);
    await send(plan, plan);
    expect(checkpoint()).toBe(0);
    cluster.open('create a');
    await settle();
    expect(cluster.requests).toEqual(['create a']);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied']);
    expect(checkpoint()).toBe(2);
  });

  const elsewhere: Mutation = {
    verb: 'create',
    resource: 'endpoints',
    object: { metadata: { name: 'web', namespace: 'kube-system' } },
  };

  test.each<[string, PlannedMutations]>([
    ['writes outside its namespace', aPlan([[elsewhere]])],
    ['is for an unknown cluster', aPlan([[create('a')]], { cluster: 'other' })],
  ])('but dead-lettered if it %s', async (_, forged) => {
    start();
    await send(forged, aPlan([[create('b')]], { service: 'db' }));
    expect(cluster.requests).toEqual(['create b']);
    expect(deadLettered).toHaveLength(1);
    expect(checkpoint()).toBe(2);
  });

  test.each([
    ['is under the key of another Service', encodeMessage(aPlan([[create('a')]], { service: 'db' }))],
    ['is not a plan', encodeMessage({ ...outcomeOf(aPlan([])) })],
    ['is not a message', new TextEncoder().encode('{"version":"1.0"}')],
    ['has another major version', new TextEncoder().encode('{"version":"2.0","kind":"mutations"}')],
  ])('but dead-lettered if the record %s', async (_, payload) => {
    start();
    await bus.append('mutations', 0, [{ key: 'c/shop/web', id: 'x', headers: {}, payload }]);
    await send(aPlan([[create('b')]]));
    expect(cluster.requests).toEqual(['create b']);
    expect(deadLettered).toHaveLength(1);
    expect(checkpoint()).toBe(2);
  });
});

describe('the checkpoint', () => {
  const abc = () => ['a', 'b', 'c'].map((name, i) => aPlan([[create(name)]], { service: name, number: i + 1 }));

  test('has no gaps when plans finish out of order', async () => {
    for (const name of ['a', 'b', 'c']) cluster.shut(`create ${name}`);
    start();
    await send(...abc());
    cluster.open('create c');
    await settle();
    expect(checkpoint()).toBe(0);
    cluster.open('create a');
    await settle();
    expect(checkpoint()).toBe(1);
    cluster.open('create b');
    await settle();
    expect(checkpoint()).toBe(3);
    const { entries } = store.peek('writer/0');
    expect(entries).toContainEqual({ key: 'plans', field: 'completed', value: { epoch: 1, number: 3 } });
  });

  test('moves once for all plans that finish within the delay of a commit', async () => {
    const commits: number[] = [];
    const commit = store.commit.bind(store);
    store.commit = (request: Commit) => {
      commits.push(request.checkpoint.offset);
      return commit(request);
    };
    commitIntervalMs = 100;
    cluster.shut('create b');
    start();
    await settle();
    commits.length = 0;
    const [a, b, c] = abc();
    if (a === undefined || b === undefined || c === undefined) throw new Error('three plans');
    await send(a, b);
    await settle(60);
    cluster.open('create b');
    await settle(39);
    expect(commits).toEqual([]);
    await settle(1);
    expect(commits).toEqual([2]);
    await send(c);
    await settle(99);
    expect(commits).toEqual([2]);
    stop.abort();
    await settle();
    expect(commits).toEqual([2, 3]);
  });

  test('is where work resumes after an unexpected failure, so that no plan is skipped or lost', async () => {
    const found = options().cluster;
    let calls = 0;
    const failing = (identity: string) => {
      // Of the plan in the middle.
      if (++calls === 2) throw new TypeError('bug');
      return found(identity);
    };
    running = runWriter({ ...options(), cluster: failing, partitions: [0] }, stop.signal);
    cluster.fails('create b', conflict);
    await send(...abc());
    await settle(60_000);
    expect((await outcomes()).toSorted()).toEqual([
      'a endpointslice 1/1 applied',
      'b endpointslice 1/2 conflict',
      'c endpointslice 1/3 applied',
      // It finished beyond the checkpoint before b failed.
      'c endpointslice 1/3 conflict',
    ]);
    expect(checkpoint()).toBe(3);
  });

  test('passes a plan that fails unexpectedly: it is parked, and its neighbours continue', async () => {
    cluster.fails('create b', new TypeError('bug'));
    running = runWriter({ ...options(), partitions: [0] }, stop.signal);
    await send(...abc());
    await settle(60_000);
    expect((await outcomes()).toSorted()).toEqual([
      'a endpointslice 1/1 applied',
      'b endpointslice 1/2 rejected',
      'c endpointslice 1/3 applied',
    ]);
    expect(checkpoint()).toBe(3);
  });

  test('does not move before the Outcome is published', async () => {
    let failures = 1;
    const append = bus.append.bind(bus);
    bus.append = async (topic, partition, records) => {
      if (topic === 'changes' && failures-- > 0) throw new Error('bus unavailable');
      return append(topic, partition, records);
    };
    running = runWriter({ ...options(), partitions: [0] }, stop.signal);
    await send(aPlan([[update('a')]]));
    expect(checkpoint()).toBe(0);
    await settle(60_000);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied']);
    expect(checkpoint()).toBe(1);
  });

  test('does not move before the log has an Outcome that was delivered within the process', async () => {
    const stored = Promise.withResolvers<never>();
    Object.assign(bus, { deliver: () => stored.promise });
    start();
    await send(aPlan([[create('a')]]));
    expect([cluster.requests, checkpoint()]).toEqual([['create a'], 0]);
    stored.resolve(undefined as never);
    await settle();
    expect(checkpoint()).toBe(1);
  });

  test('does not move after a failed commit, whose entries the store may lack', async () => {
    cluster.shut('create b');
    const commit = store.commit.bind(store);
    store.commit = async () => {
      store.commit = commit;
      throw new Error('the store is away');
    };
    start();
    const failed = expect(running).rejects.toThrow('the store is away');
    const [a, b] = ['a', 'b'].map((name, i) => aPlan([[create(name)]], { service: name, number: 2 - i }));
    if (a && b) await send(a, b);
    cluster.open('create b');
    await settle();
    await failed;
    expect(store.peek('writer/0')).toMatchObject({ checkpoint: { offset: 0 }, entries: [] });
  });

  test('stops the worker if another owner moved it', async () => {
    running = runWriter({ ...options(), partitions: [0] }, stop.signal);
    await send(aPlan([[create('a')]]));
    const commit: Commit = {
      scope: 'writer/0',
      fencingToken: 2,
      expectedOffset: 1,
      checkpoint: { offset: 1, id: '', streamId: 'memory' },
      entries: [],
    };
    await store.commit(commit);
    await send(aPlan([[create('b')]], { number: 2 }));
    await running;
    await send(aPlan([[create('c')]], { number: 3 }));
    expect(cluster.requests).toEqual(['create a', 'create b']);
    expect(checkpoint()).toBe(1);
  });
});

describe('a plan that a previous owner may have applied without reporting it', () => {
  test.each([
    [
      'is decided again if it lacks preconditions, because its objects may have been deleted since',
      create('a'),
      'conflict',
      1,
    ],
    ['is applied if it updates with a resourceVersion', update('a'), 'applied', 2],
    ['is applied if it deletes with a UID', remove('web-bbbbb'), 'applied', 2],
  ])('%s', async (_, mutation, status, requests) => {
    const append = bus.append.bind(bus);
    bus.append = async (topic, ...rest) => {
      if (topic === 'changes') throw new Error('bus unavailable');
      return append(topic, ...rest);
    };
    start();
    const ended = expect(running).rejects.toThrow('bus unavailable');
    await send(aPlan([[mutation]]));
    await ended;
    bus.append = append;
    start();
    await settle();
    await send(aPlan([[create('b')]], { number: 2 }));
    expect(cluster.requests).toHaveLength(requests + 1);
    expect(await outcomes()).toEqual([`web endpointslice 1/1 ${status}`, 'web endpointslice 1/2 applied']);
    expect(checkpoint()).toBe(2);
  });

  // The reconciler appends a record again if an append was reported as failed.
  test('is not applied from a later copy of its record either', async () => {
    const append = bus.append.bind(bus);
    bus.append = async (topic, ...rest) => {
      if (topic === 'changes') throw new Error('bus unavailable');
      return append(topic, ...rest);
    };
    start();
    const ended = expect(running).rejects.toThrow('bus unavailable');
    await send(aPlan([[update('b')]], { service: 'db' }), aPlan([[create('a')]], { number: 2 }));
    await ended;
    bus.append = append;
    // An unfinished plan before it keeps the checkpoint from passing it.
    cluster.shut('update b');
    start();
    await settle();
    await send(aPlan([[create('a')]], { number: 2 }));
    expect(cluster.requests).toEqual(['update b', 'create a', 'update b']);
    expect(await outcomes()).toEqual(['web endpointslice 1/2 conflict', 'web endpointslice 1/2 conflict']);
    cluster.open('update b');
    await settle();
    expect(checkpoint()).toBe(3);
  });
});

describe('after data loss', () => {
  const stopped = async () => {
    stop.abort();
    await running;
    stop = new AbortController();
  };

  test('in the store: returns the plans up to the end of the partition to the reconciler instead of applying them', async () => {
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { number: 2 }));
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: false });
    start();
    await settle();
    await send(aPlan([[create('c')]], { number: 3 }));
    expect(cluster.requests).toEqual(['create c']);
    expect(await outcomes()).toEqual([
      'web endpointslice 1/1 conflict',
      'web endpointslice 1/2 conflict',
      'web endpointslice 1/3 applied',
    ]);
    expect(checkpoint()).toBe(3);
  });

  test('in the store: commits as soon as the last plan that may have been applied is finished', async () => {
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { number: 2 }));
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: false });
    start();
    await settle();
    expect(checkpoint()).toBe(2);
  });

  test('in the store: a new owner treats the plans as doubtful too until all of them are committed', async () => {
    await send(aPlan([[create('a')]]), aPlan([[create('b')]], { number: 2 }));
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: false });
    const append = bus.append.bind(bus);
    let published = 0;
    bus.append = async (...args) => {
      if (args[0] === 'changes' && ++published > 1) throw new Error('bus unavailable');
      return append(...args);
    };
    start();
    await expect(running).rejects.toThrow('bus unavailable');
    running = undefined;
    expect(published).toBe(2);
    expect(checkpoint()).toBe(0);
  });

  test('of the whole store state: starts at the end of the partition', async () => {
    await send(aPlan([[create('a')]]));
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), checkpoint: null });
    start();
    await settle();
    await send(aPlan([[create('b')]], { number: 2 }));
    expect(cluster.requests).toEqual(['create b']);
  });

  test('in the log: skips to the end of the partition', async () => {
    start();
    await send(aPlan([[create('a')]]));
    await stopped();
    await send(aPlan([[create('b')]], { number: 2 }));
    bus.read('mutations', 0, streamStart).release(2);
    start();
    await settle();
    await send(aPlan([[create('c')]], { number: 3 }));
    expect(cluster.requests).toEqual(['create a', 'create c']);
    expect(checkpoint()).toBe(3);
  });

  test('in the store and then in the log: applies the plans of the recreated partition', async () => {
    const claim = store.claim.bind(store);
    store.claim = async (scope, epoch) => ({ ...(await claim(scope, epoch)), intact: false });
    const { end, read } = bus;
    bus.end = async () => ({ offset: 5, id: 'e', streamId: 'first' });
    bus.read = (...args) => {
      Object.assign(bus, { end, read });
      const reader = bus.read(...args);
      reader.next = () => Promise.reject(new LogTruncatedError('stream recreated'));
      return reader;
    };
    start();
    await settle();
    await send(aPlan([[create('a')]]));
    expect(cluster.requests).toEqual(['create a']);
    expect(checkpoint()).toBe(1);
  });
});

describe('an empty partition that is recreated', () => {
  test('is read from the start, and its next plan is applied', async () => {
    let streamId = 'first';
    const { read } = bus;
    bus.end = async () => ({ offset: 0, id: '', streamId });
    bus.read = (topic, partition, after) => {
      const reader = read.call(bus, topic, partition, after);
      if (after.streamId !== '' && after.streamId !== streamId)
        reader.next = () => Promise.reject(new LogTruncatedError('stream recreated'));
      return reader;
    };
    await store.claim('writer/0', 1);
    await store.commit({
      scope: 'writer/0',
      fencingToken: 1,
      expectedOffset: 0,
      checkpoint: await bus.end('mutations', 0),
      entries: [],
    });
    streamId = 'second';
    start();
    await send(aPlan([[create('a')]]));
    expect(cluster.requests).toEqual(['create a']);
  });
});

describe('an expired lease', () => {
  test('stops all requests and Outcomes', async () => {
    let current = true;
    running = new PlanPartitionWorker({ ...options(), isCurrent: () => current }).run(stop.signal);
    const failed = expect(running).rejects.toMatchObject({ code: 'FENCED' });
    await send(aPlan([[create('a')]]));
    current = false;
    await send(aPlan([[create('b')]], { number: 2 }));
    await failed;
    running = undefined;
    expect(cluster.requests).toEqual(['create a']);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied']);
  });

  test('in the middle of a plan stops the remaining requests', async () => {
    let current = true;
    running = new PlanPartitionWorker({ ...options(), isCurrent: () => current }).run(stop.signal);
    const failed = expect(running).rejects.toMatchObject({ code: 'FENCED' });
    cluster.fails('create a', unavailable);
    await send(aPlan([[create('a'), create('b')]]));
    current = false;
    await settle(60_000);
    await failed;
    running = undefined;
    expect(cluster.requests).toEqual(['create a']);
    expect(await outcomes()).toEqual([]);
  });
});

describe('scheduling', () => {
  const oneAtATime = (): PlanPartitionWorkerOptions => {
    const limit = new AdaptiveLimit({ max: 1, clock });
    return { ...options(), cluster: () => ({ writer: cluster, limit, record: () => {} }) };
  };
  const occupied = async (): Promise<void> => {
    cluster.shut('create busy');
    running = new PlanPartitionWorker(oneAtATime()).run(stop.signal);
    await send(aPlan([[create('busy')]], { service: 'busy' }));
  };

  test('lets a small change pass a large one that is waiting; the large one keeps its own order', async () => {
    await occupied();
    const giant = Array.from({ length: 5 }, (_, i) => update(`giant-${i}`));
    await send(aPlan([giant], { service: 'giant' }), aPlan([[update('small')]]));
    cluster.open('create busy');
    await settle();
    expect(cluster.requests).toEqual([
      'create busy',
      'update small',
      ...['giant-0', 'giant-1', 'giant-2', 'giant-3', 'giant-4'].map((name) => `update ${name}`),
    ]);
  });

  test('withdraws a waiting plan when a newer one arrives', async () => {
    await occupied();
    await send(aPlan([[create('old')]], { number: 1 }));
    await send(aPlan([[create('new')]], { epoch: 2, number: 2 }));
    cluster.open('create busy');
    await settle();
    expect(cluster.requests).toEqual(['create busy', 'create new']);
    expect(await all()).toMatchObject([
      { key: { service: 'busy' }, status: 'applied' },
      { plan: { epoch: 1 }, status: 'conflict', message: 'superseded by plan 2/2' },
      { plan: { epoch: 2 }, status: 'applied' },
    ]);
  });

  test('completes a plan that has already sent a request', async () => {
    cluster.shut('create a');
    running = new PlanPartitionWorker(oneAtATime()).run(stop.signal);
    await send(aPlan([[create('a'), create('b')]], { number: 1 }));
    await send(aPlan([[create('new')]], { epoch: 2, number: 2 }));
    cluster.open('create a');
    await settle();
    expect(cluster.requests).toEqual(['create a', 'create b', 'create new']);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied', 'web endpointslice 2/2 applied']);
  });

  test('withdraws a plan whose only request was rejected with 429', async () => {
    running = new PlanPartitionWorker(oneAtATime()).run(stop.signal);
    cluster.fails('create a', apiError('retry', 429, 5_000));
    await send(aPlan([[create('a'), create('b')]], { number: 1 }));
    await send(aPlan([[create('new')]], { epoch: 2, number: 2 }));
    await settle(60_000);
    expect(cluster.requests).toEqual(['create a', 'create new']);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 conflict', 'web endpointslice 2/2 applied']);
  });

  test.each([
    ['failed ambiguously', [create('a')], unavailable],
    ['got 429 while another request of its plan was stored', [create('z'), create('a')], apiError('retry', 429)],
  ])('completes a plan if a request %s', async (_, mutations, error) => {
    running = new PlanPartitionWorker(oneAtATime()).run(stop.signal);
    cluster.fails('create a', error);
    await send(aPlan([mutations], { number: 1 }));
    await send(aPlan([[create('new')]], { epoch: 2, number: 2 }));
    await settle(60_000);
    expect(cluster.requests.slice(-3)).toEqual(['create a', 'create a', 'create new']);
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied', 'web endpointslice 2/2 applied']);
  });

  test('leaves a plan that has not started to the next owner of the partition', async () => {
    await occupied();
    await send(aPlan([[update('later')]], { number: 2 }));
    stop.abort();
    await settle();
    cluster.open('create busy');
    await running;
    expect(cluster.requests).toEqual(['create busy']);
    expect(await outcomes()).toEqual(['busy endpointslice 1/1 applied']);
    stop = new AbortController();
    start();
    await settle();
    expect(cluster.requests).toEqual(['create busy', 'update later']);
  });
});

describe('a plan for a cluster that has not been reached yet', () => {
  test('is neither lost nor dead-lettered', async () => {
    running = new PlanPartitionWorker({ ...options(), cluster: () => 'connecting' }).run(stop.signal);
    await send(aPlan([[create('a')]]));
    expect(await outcomes()).toEqual(['web endpointslice 1/1 unavailable']);
    expect(deadLettered).toEqual([]);
  });
});

describe('a plan for an unknown cluster', () => {
  test('is dead-lettered and its Outcome states the reason', async () => {
    start();
    await send(aPlan([[create('a')]], { cluster: 'other' }));
    expect(await all()).toMatchObject([{ status: 'rejected', message: 'cluster other is unknown' }]);
  });
});

describe('Kubernetes Events', () => {
  const event: EventToRecord = {
    type: 'Normal',
    reason: 'TopologyAwareHintsEnabled',
    message: 'm',
    regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'service-uid' },
  };

  test('of the plan are recorded whatever its outcome, before failure Events (J3)', async () => {
    cluster.fails('update a', conflict);
    start();
    await send(aPlan([[update('a')]], { events: [event] }));
    expect(recorded.map(({ reason }) => reason)).toEqual(['TopologyAwareHintsEnabled', 'FailedToUpdateEndpointSlices']);
  });

  test('report what kept a plan from being complete (E15)', async () => {
    start();
    await send(aPlan([], { incomplete: ['skipping Pod p for Service shop/web: Node n1 Not Found'] }));
    expect(recorded).toMatchObject([
      { reason: 'FailedToUpdateEndpointSlices', message: expect.stringContaining('Node n1') },
    ]);
  });

  test('are not recorded for successes or for mirroring (J2)', async () => {
    cluster.fails('update a', conflict);
    start();
    await send(aPlan([[create('a')]]), aPlan([[update('a')]], { controller: 'endpointslicemirroring' }));
    expect(recorded).toEqual([]);
  });
});

describe('the log', () => {
  let logged: (string | undefined)[];

  function note(level: string) {
    return (message: string, fields?: LogFields) => {
      if (message === 'plan not applied') logged.push(`${level}: ${fields?.reason}`);
    };
  }

  beforeEach(() => {
    logged = [];
    const logger: Logger = {
      debug: note('debug'),
      info: note('info'),
      warn: note('warn'),
      error: note('error'),
      with: () => logger,
    };
    running = new PlanPartitionWorker({ ...options(), logger }).run(stop.signal);
  });

  test.each([
    ['endpointslice', conflict, 'info: Error updating Endpoint Slices for Service shop/web: failed to update a '],
    ['endpointslicemirroring', conflict, 'info: failed to update a EndpointSlice for Endpoints shop/web: '],
    ['endpoints', conflict, 'debug: '],
    ['endpointslice', forbidden, 'warn: '],
    ['endpoints', forbidden, 'warn: '],
  ] as const)(
    'reports a failed %s plan, as a warning if it was rejected (B6, H20)',
    async (controller, error, text) => {
      cluster.fails('update a', error);
      await send(aPlan([[update('a')]], { controller }));
      expect(logged).toEqual([expect.stringContaining(text)]);
    },
  );

  test('says why a plan of which nothing was sent is returned', async () => {
    const plan = aPlan([[create('a')]]);
    await send(plan);
    await send(plan);
    expect(logged).toEqual(['info: already applied or superseded']);
  });

  test('states how much of a clean-up failed (H7)', async () => {
    cluster.fails('delete b', forbidden);
    await send(aPlan([[remove('a')], [remove('b')]], { controller: 'endpointslicemirroring' }));
    expect(logged).toEqual([
      'warn: error(s) deleting 1/2 EndpointSlices for shop/web Endpoints, including: terminal 403',
    ]);
  });
});

describe('stop', () => {
  test('waits for work in flight and accepts no more', async () => {
    cluster.shut('create a');
    start();
    await send(aPlan([[create('a')]]));
    stop.abort();
    let ended = false;
    void running?.then(() => {
      ended = true;
    });
    await send(aPlan([[create('b')]], { service: 'db' }));
    expect(ended).toBe(false);
    cluster.open('create a');
    await settle();
    expect(ended).toBe(true);
    expect(cluster.requests).toEqual(['create a']);
    expect(checkpoint()).toBe(1);
  });

  test('leaves a plan to the next start if the API server is unavailable', async () => {
    cluster.fails('update a', ...Array(9).fill(unavailable));
    start();
    await send(aPlan([[update('a')]]));
    stop.abort();
    await running;
    expect(await outcomes()).toEqual([]);
    expect(checkpoint()).toBe(0);
    cluster.fails('update a');
    stop = new AbortController();
    start();
    await settle();
    expect(await outcomes()).toEqual(['web endpointslice 1/1 applied']);
  });

  test('returns at once if nothing has started', async () => {
    start();
    stop.abort();
    await running;
  });
});

function outcomeOf(plan: PlannedMutations): Outcome {
  const { key, controller, causes, decidedAt } = plan;
  const base = { key, controller, plan: plan.plan, causes, decidedAt, completedAt: 3, retries: 0 };
  return { kind: 'outcome', ...base, status: 'applied', results: [], message: '' };
}
