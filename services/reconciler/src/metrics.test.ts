import { MemoryBus, streamStart } from '@sluice/bus';
import {
  type Change,
  decodeMessage,
  encodeMessage,
  formatServiceKey,
  type Outcome,
  type PlannedMutations,
} from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact } from '@sluice/service-state/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, expect, test } from 'vitest';
import { noPartitionMetrics, type PartitionMetrics } from './metrics.ts';
import { PartitionWorker } from './partition-worker.ts';

const settings: Settings = { ...defaultSettings, controllers: new Set(['endpointslice']) };
const snapshot = aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')], {
  endpoints: '9',
  endpointslices: '9',
});
const clock = new VirtualClock(1_000_000);
const bus = new MemoryBus({ partitions: 1 });
const store = new MemoryStore();
let stop: AbortController;
let running: Promise<void>;
let calls: string[];

afterEach(async () => {
  stop.abort();
  await running;
});

const metrics: PartitionMetrics = {
  ...noPartitionMetrics,
  restored: (_key, controller, { counted, deciding }) => {
    if (counted !== null) calls.push(`restored ${controller}: ${counted.slices} slices, deciding ${deciding}`);
  },
  due: (_key, controller) => void calls.push(`due ${controller}`),
  decided: (_key, controller, decided) => {
    const plan = decided?.plan === undefined ? 'nothing' : `plan ${decided.plan.plan.number}`;
    calls.push(`decided ${controller}: ${plan}, ${decided?.counts?.service.endpoints} endpoints`);
  },
  completed: (_key, controller, { status, counted }) =>
    void calls.push(`completed ${controller}: ${status}, ${counted?.slices} slices`),
  close: () => void calls.push('closed'),
};

function start(): void {
  calls = [];
  stop = new AbortController();
  const ports = { bus, store, clock, random: seededRandom(1), logger: silentLogger };
  const options = { ...ports, partition: 0, fencingToken: 1, settings, metrics: { open: () => metrics } };
  running = new PartitionWorker(options).run(stop.signal);
}

async function send(...messages: (Change | Outcome)[]): Promise<void> {
  for (const message of messages) {
    const key = formatServiceKey(message.key);
    await bus.append('changes', 0, [{ key, id: 'id', headers: {}, payload: encodeMessage(message) }]);
  }
  await settle();
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function lastPlan(): Promise<PlannedMutations> {
  const [record] = (await bus.read('mutations', 0, streamStart).next(100)).slice(-1);
  if (record === undefined) throw new Error('no plan');
  return decodeMessage(record.payload) as PlannedMutations;
}

test('a worker reports what is due, decided and completed, each once', async () => {
  start();
  await send(snapshot);
  expect(calls.splice(0)).toEqual(['due endpointslice', 'decided endpointslice: plan 1, 1 endpoints']);
  // While the plan is in flight, the next decision waits.
  await send(aChange(2, [fact.pod('q')]));
  expect(calls.splice(0)).toEqual(['due endpointslice']);

  stop.abort();
  await running;
  expect(calls).toEqual(['closed']);
  start();
  await settle();
  expect(calls.splice(0)).toContain('restored endpointslice: 1 slices, deciding true');

  const outcome = anOutcome(await lastPlan());
  await send(outcome, outcome);
  expect(calls.filter((one) => one.startsWith('completed'))).toEqual(['completed endpointslice: applied, 1 slices']);
  expect(calls.filter((one) => one.startsWith('decided'))).toEqual(['decided endpointslice: plan 2, 2 endpoints']);
});
