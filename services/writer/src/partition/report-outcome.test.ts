import { type Delivery, MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage, type Outcome, partitionOf } from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { aPlan, update } from '../testing/plans.ts';
import { reportOutcome } from './report-outcome.ts';

const plan = aPlan([[update('a')]]);
const record: Delivery = {
  ...{ offset: 1, id: 'the record', key: 'c/shop/web', headers: {}, payload: new Uint8Array() },
};
const applied: ApplyResult = { status: 'applied', results: [], failures: [] };

let bus: MemoryBus;
let isCurrent: boolean;
let reported: Outcome[];

beforeEach(() => {
  bus = new MemoryBus({ partitions: 8 });
  [isCurrent, reported] = [true, []];
});

afterEach(() => bus.close());

function report(result: ApplyResult, given: Partial<Delivery> = {}, fencingToken = 1) {
  return reportOutcome(
    {
      ...{ bus, clock: new VirtualClock(5_000), logger: silentLogger, fencingToken },
      ...{ isCurrent: () => isCurrent, onOutcome: (_, outcome) => void reported.push(outcome) },
    },
    { record: { ...record, ...given }, plan, trace: undefined },
    result,
  );
}

/** What the reconciler of the Service reads; none if nothing was published. */
async function published() {
  const partition = partitionOf(record.key, bus.partitions);
  if ((await bus.end('changes', partition)).offset === 0) return [];
  const reader = bus.read('changes', partition, streamStart);
  const records = await reader.next(100);
  reader.close();
  return records.map(({ id, key, payload }) => ({ id, key, outcome: decodeMessage(payload) as Outcome }));
}

test('an Outcome goes to the partition of the Service, and has an id for each owner of the writer’s partition', async () => {
  await report(applied);
  await report(applied, {}, 2);
  const records = await published();
  expect(records.map(({ key }) => key)).toEqual(['c/shop/web', 'c/shop/web']);
  expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  expect(records[0]?.outcome).toEqual({
    ...{ kind: 'outcome', key: plan.key, controller: 'endpointslice', plan: plan.plan, status: 'applied' },
    ...{ results: [], message: '', causes: plan.causes, decidedAt: 2, completedAt: 5_000, retries: 0 },
  });
  expect(reported).toHaveLength(2);
});

test('an Outcome says what failed and when to decide again', async () => {
  const failures = ['no', 'never'].map((message) => ({ mutation: update('a'), message }));
  const waits = { startedAt: 4_000, retries: 2, retryAfterMs: 70, cooldownMs: 40, heldBack: true as const };
  await report({ ...applied, status: 'rejected', failures, ...waits });
  await report({ ...applied, status: 'conflict', failures, message: 'superseded', retryAfterMs: 0, cooldownMs: 0 });
  const [first, second] = (await published()).map(({ outcome }) => outcome);
  expect(first).toMatchObject({ status: 'rejected', message: 'no; never', ...waits });
  expect(second).toMatchObject({ status: 'conflict', message: 'superseded' });
  expect(second).not.toHaveProperty('retryAfterMs');
  expect(second).not.toHaveProperty('cooldownMs');
  expect(second).not.toHaveProperty('heldBack');
});

test('an owner whose lease has expired reports nothing', async () => {
  isCurrent = false;
  await expect(report(applied)).rejects.toMatchObject({ code: 'FENCED' });
  expect([await published(), reported]).toEqual([[], []]);
});

test('the Outcome of a plan that is not stored yet waits for it, and the lease is checked again', async () => {
  const stored = Promise.withResolvers<void>();
  const reporting = report(applied, { stored: stored.promise });
  await new Promise((resolve) => setImmediate(resolve));
  expect(await published()).toEqual([]);
  isCurrent = false;
  stored.resolve();
  await expect(reporting).rejects.toMatchObject({ code: 'FENCED' });
  expect(await published()).toEqual([]);
});

test('a plan that is not stored has no Outcome', async () => {
  const lost = new Error('not stored');
  await expect(report(applied, { stored: Promise.reject(lost) })).rejects.toBe(lost);
  expect(await published()).toEqual([]);
});
