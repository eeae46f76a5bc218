import { type AppendedOffsets, ForwardingBus, LocalDeliveryBus, MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage, encodeMessage, formatServiceKey, type Outcome, type PlannedMutations } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultRetry } from '../apply/apply-plan.ts';
import { runPlanPartition } from '../run-writer.ts';
import { unlimited } from '../scheduling/request-limit.ts';
import { aPlan, create, update } from '../testing/plans.ts';
import { ScriptedCluster } from '../testing/scripted-cluster.ts';

/** The log of plans, which can be held back. */
class Log extends ForwardingBus {
  held: PromiseWithResolvers<void> | undefined;
  /** Appended by another process before the next plan. */
  foreign: PlannedMutations | undefined;

  override async append(...[topic, partition, records]: Parameters<ForwardingBus['append']>): Promise<AppendedOffsets> {
    if (topic !== 'mutations') return super.append(topic, partition, records);
    await this.held?.promise;
    const { foreign } = this;
    this.foreign = undefined;
    if (foreign !== undefined) await super.append(topic, partition, [toRecord(foreign)]);
    return super.append(topic, partition, records);
  }
}

let clock: VirtualClock;
let log: Log;
let bus: LocalDeliveryBus;
let store: MemoryStore;
let cluster: ScriptedCluster;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  clock = new VirtualClock(1_000);
  log = new Log(new MemoryBus({ partitions: 1 }));
  bus = new LocalDeliveryBus(log, { clock, random: seededRandom(2) });
  store = new MemoryStore();
  cluster = new ScriptedCluster();
  stop = new AbortController();
  const writable = { writer: cluster, limit: unlimited, record: () => {} };
  running = runPlanPartition(
    {
      ...{ partition: 0, fencingToken: 1, bus, store, clock, random: seededRandom(1), logger: silentLogger },
      ...{ retry: defaultRetry, requestSignal: new AbortController().signal, cluster: () => writable },
    },
    stop.signal,
  );
  await advance(clock, 0);
  bus.produceExclusively('mutations', 0);
  await send(plan(1, create('a')));
});

afterEach(async () => {
  stop.abort();
  log.held?.resolve();
  await advance(clock, 0);
  await running;
  await bus.close();
});

const plan = (number: number, mutation: ReturnType<typeof create>): PlannedMutations => ({
  ...aPlan([[mutation]]),
  plan: { epoch: 1, number },
});

function toRecord(message: PlannedMutations) {
  const key = formatServiceKey(message.key);
  const { epoch, number } = message.plan;
  return { key, id: `${epoch}/${number}`, headers: {}, payload: encodeMessage(message), message };
}

async function send(message: PlannedMutations): Promise<void> {
  void bus.append('mutations', 0, [toRecord(message)]);
  await advance(clock, 0);
}

async function outcomes(): Promise<readonly string[]> {
  const reader = bus.read('changes', 0, streamStart);
  const next = reader.next(1_000);
  await advance(clock, 0);
  reader.close();
  const all = (await next).map(({ payload }) => decodeMessage(payload) as Outcome);
  return all.map(({ plan: { number }, status }) => `${number} ${status}`);
}

const checkpoint = () => store.peek('writer/0').checkpoint.offset;

test('a plan is applied while the log stores it, and reported and committed once it is stored', async () => {
  log.held = Promise.withResolvers();
  await send(plan(2, update('a')));
  expect(cluster.requests).toEqual(['create a', 'update a']);
  expect(await outcomes()).toEqual(['1 applied']);
  expect(checkpoint()).toBe(1);
  log.held.resolve();
  await advance(clock, 0);
  expect(await outcomes()).toEqual(['1 applied', '2 applied']);
  expect(checkpoint()).toBe(2);
});

test('a plan that the log stores elsewhere than expected is returned if its repetition is unsafe; later ones are applied', async () => {
  log.foreign = plan(2, update('a'));
  await send(plan(3, create('b')));
  expect(cluster.requests).toEqual(['create a', 'create b', 'update a']);
  expect((await outcomes()).toSorted()).toEqual(['1 applied', '2 applied', '3 conflict']);
  expect(checkpoint()).toBe(3);
  await send(plan(4, update('b')));
  expect(cluster.requests.at(-1)).toBe('update b');
  expect(await outcomes()).toContain('4 applied');
  expect(checkpoint()).toBe(4);
});
