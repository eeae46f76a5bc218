import { MemoryBus } from '@sluice/bus';
import type { ClusterWriter } from '@sluice/kubernetes';
import { encodeMessage, formatServiceKey, type PlannedMutations } from '@sluice/messages';
import { aborted, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Commit, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultRetry } from './apply/apply-plan.ts';
import { runPlanPartition, runWriter, type WriterOptions } from './run-writer.ts';
import { unlimited } from './scheduling/request-limit.ts';
import { aPlan, create } from './testing/plans.ts';
import { ScriptedCluster, unavailable } from './testing/scripted-cluster.ts';

let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
let cluster: ScriptedCluster;
let stop: AbortController;
let options: WriterOptions;
let running: Promise<void> | undefined;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new MemoryBus({ partitions: 2 });
  store = new MemoryStore();
  cluster = new ScriptedCluster();
  stop = new AbortController();
  const writable = { writer: cluster, limit: unlimited, record: () => {} };
  options = {
    ...{ partitions: [0, 1], fencingToken: 1, bus, store, clock, random: seededRandom(1), logger: silentLogger },
    ...{ retry: defaultRetry, requestSignal: new AbortController().signal, cluster: () => writable },
  };
});

afterEach(async () => {
  stop.abort();
  await bus.close();
  await running?.catch(() => {});
});

async function send(partition: number, plan: PlannedMutations): Promise<void> {
  const key = formatServiceKey(plan.key);
  await bus.append('mutations', partition, [{ key, id: key, headers: {}, payload: encodeMessage(plan) }]);
  await advance(clock, 0);
}

/** Another process takes the partition over. */
async function takeOver(partition: number): Promise<void> {
  const commit: Commit = {
    ...{ scope: `writer/${partition}`, fencingToken: 2, expectedOffset: 0 },
    ...{ checkpoint: { offset: 0, id: '', streamId: '' }, entries: [] },
  };
  await store.commit(commit);
}

/** Only an abort ends the request. */
async function hang(signal: AbortSignal): Promise<never> {
  await aborted(signal);
  throw unavailable;
}

test('a partition that was taken over ends, and the others continue', async () => {
  running = runWriter(options, stop.signal);
  await advance(clock, 0);
  await takeOver(0);
  await send(0, aPlan([[create('a')]], { service: 'a' }));
  await send(0, aPlan([[create('b')]], { service: 'b' }));
  await send(1, aPlan([[create('c')]], { service: 'c' }));
  expect(cluster.requests).toEqual(['create a', 'create c']);
  stop.abort();
  await running;
});

test('a partition whose work has failed does not wait for a cluster that does not answer', async () => {
  const silent: ClusterWriter = {
    get: (_resource, _namespace, _name, signal) => hang(signal),
    create: (_resource, _object, signal) => hang(signal),
    update: (_resource, _object, signal) => hang(signal),
    delete: (_resource, _namespace, _name, _preconditions, signal) => hang(signal),
  };
  const writable = (writer: ClusterWriter) => ({ writer, limit: unlimited, record: () => {} });
  const clusterOf = (identity: string) => writable(identity === 'silent' ? silent : cluster);
  running = runPlanPartition({ ...options, partition: 0, drainMs: 1_000, cluster: clusterOf }, stop.signal);
  await advance(clock, 0);
  const plan = aPlan([[create('s')]], { service: 's', number: 1 });
  await send(0, { ...plan, key: { ...plan.key, cluster: 'silent' } });
  const append = bus.append.bind(bus);
  bus.append = (topic, ...rest) =>
    topic === 'changes' ? Promise.reject(new Error('the bus is down')) : append(topic, ...rest);
  await send(0, aPlan([[create('a')]], { service: 'a', number: 2 }));
  bus.append = append;
  await advance(clock, 2_000);
  await send(0, aPlan([[create('b')]], { service: 'b', number: 3 }));
  expect(cluster.requests).toEqual(['create a', 'create b']);
});

test('a single partition that was taken over says so', async () => {
  running = runPlanPartition({ ...options, partition: 0 }, stop.signal);
  const ended = expect(running).rejects.toMatchObject({ code: 'FENCED' });
  await advance(clock, 0);
  await takeOver(0);
  await send(0, aPlan([[create('a')]]));
  await ended;
});

test('a partition that fails starts again, and the others continue meanwhile', async () => {
  const claim = store.claim.bind(store);
  let failures = 3;
  store.claim = async (scope, token) => {
    if (scope === 'writer/0' && failures-- > 0) throw new Error('the store is away');
    return claim(scope, token);
  };
  running = runWriter(options, stop.signal);
  await advance(clock, 0);
  await send(1, aPlan([[create('b')]], { service: 'b' }));
  expect(cluster.requests).toEqual(['create b']);
  await advance(clock, 60_000);
  await send(0, aPlan([[create('a')]], { service: 'a' }));
  expect(cluster.requests).toEqual(['create b', 'create a']);
});
