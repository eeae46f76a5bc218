import {
  type CompactionRequest,
  encodeMessage,
  type Fact,
  type Outcome,
  type PlannedMutations,
} from '@sluice/messages';
import { watchBytes } from '@sluice/service-state';
import {
  aChange,
  allApplied,
  anOutcome,
  aPod,
  aService,
  aSnapshot,
  fact,
  key,
  keyText,
} from '@sluice/service-state/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestPartition } from './testing/test-partition.ts';

const service: Fact = { kind: 'service', service: aService() };
const versions = { endpoints: '9', endpointslices: '9' };
const first = aSnapshot(1, [service, fact.pod('p')], versions);

let partition: TestPartition;

beforeEach(async () => {
  partition = new TestPartition();
});

afterEach(() => partition.stop());

/** Service `web` has a plan that creates its slice. */
async function startWithPlan(settings = {}): Promise<PlannedMutations> {
  await partition.start({ settings });
  await partition.send(first);
  return partition.lastPlan();
}

const nameOfSlice = ({ groups }: PlannedMutations): string => {
  const [mutation] = groups[0]?.mutations ?? [];
  if (mutation?.verb !== 'create') throw new Error('no slice is created');
  return mutation.object.metadata.name;
};

/** The slice as the watch delivers it. */
function storedSlice(name: string, version: number, generation: number): Fact {
  const found = fact.slice(name, { uid: `stored-${name}`, version });
  if (found.kind !== 'slice' || found.slice === null) throw new Error('no slice');
  return { ...found, slice: { ...found.slice, metadata: { ...found.slice.metadata, generation } } };
}

describe('an Outcome', () => {
  test('completes its plan, with what the plan was about', async () => {
    const plan = await startWithPlan({ sliceWatchers: 7 });
    await partition.send(anOutcome(plan));
    expect(partition.reportedAs('completed')).toEqual([
      [
        ...[keyText, 'endpointslice'],
        {
          ...{ outcome: anOutcome(plan), status: 'applied', groups: plan.groups, incomplete: false },
          ...{ fanoutBytes: 7 * watchBytes(plan.groups), compaction: undefined },
          counted: expect.objectContaining({ endpoints: 1, slices: 1 }),
        },
      ],
    ]);
  });

  test('of an incomplete plan says so', async () => {
    await partition.start();
    // Its Node is missing (E15).
    const pod: Fact = { kind: 'pod', name: 'p', pod: aPod('p'), node: null };
    await partition.send(aSnapshot(1, [service, pod], versions));
    await partition.send(anOutcome(await partition.lastPlan()));
    expect(partition.reportedAs('completed')).toMatchObject([[keyText, 'endpointslice', { incomplete: true }]]);
  });

  test('is worse than the writer says if its object was deleted before', async () => {
    const plan = await startWithPlan();
    const name = nameOfSlice(plan);
    await partition.send(aChange(2, [fact.sliceGone(name, `stored-${name}`)]));
    const [result] = allApplied(plan);
    if (result === undefined) throw new Error('no result');
    const current = fact.slice(name, { uid: `stored-${name}` });
    if (current.kind !== 'slice') throw new Error('no slice');
    await partition.send(anOutcome(plan, { results: [{ ...result, current: current.slice }] }));
    expect(partition.reportedAs('completed')[0]?.[2]).toMatchObject({ status: 'conflict' });
  });

  test.each<readonly [string, (plan: PlannedMutations) => Outcome]>([
    ['of an earlier plan', (plan) => anOutcome({ ...plan, plan: { epoch: 1, number: 0 } })],
    ['of another controller', (plan) => anOutcome({ ...plan, controller: 'endpoints' })],
    ['of an unknown Service', (plan) => anOutcome({ ...plan, key: { ...key, service: 'db' } })],
  ])('%s changes nothing', async (_, outcomeOf) => {
    const plan = await startWithPlan();
    const ofServices = () => partition.stored.filter((entry) => entry.key.startsWith('c/'));
    const before = ofServices();
    await partition.send(outcomeOf(plan));
    expect(ofServices()).toEqual(before);
    expect(partition.reportedAs('completed')).toEqual([]);
    expect(partition.deadLetters).toEqual([]);
  });

  test('under the key of another Service is dead-lettered', async () => {
    const plan = await startWithPlan();
    await partition.sendRaw(encodeMessage(anOutcome(plan)), 'c/shop/db');
    expect(partition.deadLetters).toEqual([`outcome of ${keyText} under key c/shop/db`]);
    expect(partition.reportedAs('completed')).toEqual([]);
  });
});

test('Changes and Outcomes that were applied are counted, others are not', async () => {
  const plan = await startWithPlan();
  await partition.send(anOutcome(plan), { kind: 'release', key, releasedAt: 1 });
  await partition.sendRaw(encodeMessage(first), 'c/shop/db');
  expect(partition.reportedAs('applied')).toEqual([['change'], ['outcome']]);
});

describe('a request of an operator', () => {
  const compaction: CompactionRequest = {
    ...{ kind: 'compaction', key, reason: 'requested', requestedAt: 1 },
    ...{ maxWrites: 10, onlyWorthwhile: false },
  };
  const release = { kind: 'release', key, releasedAt: 1 } as const;

  test('releases a parked Service', async () => {
    const plan = await startWithPlan();
    await partition.send(anOutcome(plan, { status: 'rejected', results: [], message: 'held back' }), release);
    expect((await partition.lastPlan()).ready).toMatchObject({ released: true });
  });

  test('compacts the slices of a Service', async () => {
    await partition.start({ settings: { maxEndpointsPerSlice: 1 } });
    await partition.send(aSnapshot(1, [service, fact.pod('p'), fact.pod('q')], versions));
    await partition.send(anOutcome(await partition.lastPlan()));
    await partition.restart();
    await partition.send(compaction);
    await partition.send(anOutcome(await partition.lastPlan()));
    expect(partition.reportedAs('completed').at(-1)?.[2]).toMatchObject({
      ...{ compaction: { removed: 1, moved: 1 }, counted: { slices: 1 } },
    });
  });

  test.each([compaction, release])('creates no state of an unknown Service', async (request) => {
    await partition.start();
    await partition.send(request);
    expect(partition.stored).toEqual([]);
    expect(partition.deadLetters).toEqual([]);
  });

  test.each([compaction, release])('under the key of another Service is dead-lettered', async (request) => {
    await partition.start();
    await partition.sendRaw(encodeMessage(request), 'c/shop/db');
    expect(partition.deadLetters).toEqual([`${request.kind} of ${keyText} under key c/shop/db`]);
  });
});

describe('a write of another client', () => {
  test('is reported once, for the controller whose slice it is', async () => {
    const plan = await startWithPlan();
    const name = nameOfSlice(plan);
    await partition.send(anOutcome(plan), aChange(2, [storedSlice(name, 60, 2)]));
    expect(partition.reportedAs('foreignWrites')).toEqual([[keyText, 'endpointslice', 1]]);
    await partition.send(aChange(3, [fact.pod('q')]));
    expect(partition.reportedAs('foreignWrites')).toHaveLength(1);
  });

  test('is none if it is the write of the plan', async () => {
    const plan = await startWithPlan();
    await partition.send(anOutcome(plan), aChange(2, [storedSlice(nameOfSlice(plan), 50, 1)]));
    expect(partition.reportedAs('foreignWrites')).toEqual([]);
  });
});

describe('a Change that proves a restore from a backup', () => {
  const endpoints = (version: number) => fact.endpoints({ version });
  const restored = aSnapshot([2, 1], [service, endpoints(50)], { ...versions, endpoints: '1000' });

  test('is reported, and the cluster is read again', async () => {
    await partition.start();
    await partition.send(aSnapshot(1, [service, endpoints(60)], versions));
    expect(partition.reportedAs('restoreProven')).toEqual([]);
    await partition.send(restored);
    expect(partition.reportedAs('restoreProven')).toEqual([[keyText]]);
    expect(await partition.requests()).toMatchObject([
      { scope: { restoredCluster: 'c', stamp: { epoch: 2, sequence: 1 } } },
    ]);
    await partition.settle(3_600_000);
    expect(await partition.requests()).toHaveLength(1);
  });

  test('is forgotten if its cluster is removed before the request', async () => {
    await partition.start();
    await partition.send(aSnapshot(1, [service, endpoints(60)], versions));
    const removed = encodeMessage({ kind: 'clusterRemoved', cluster: 'c', epoch: 3 });
    await partition.bus.append('changes', 0, [
      { key: keyText, id: 'a', headers: {}, payload: encodeMessage(restored) },
      { key: 'c', id: 'b', headers: {}, payload: removed },
    ]);
    await partition.settle();
    expect(partition.reportedAs('restoreProven')).toEqual([[keyText]]);
    expect(await partition.requests()).toEqual([]);
  });
});

describe('a snapshot', () => {
  const part = (n: number, position: 'first' | 'last', facts: readonly Fact[]) =>
    aChange(n, facts, {
      resourceVersions: versions,
      snapshot: { first: position === 'first', last: position === 'last', initial: false, resourceVersions: versions },
    });
  const isPending = () => partition.stored.some(({ field }) => field === 'resync');

  beforeEach(async () => {
    await partition.start();
    await partition.sendRaw(new TextEncoder().encode('{'));
    expect(isPending()).toBe(true);
  });

  test('answers a request once its last part is applied', async () => {
    await partition.send(part(1, 'first', [service]));
    expect(isPending()).toBe(true);
    await partition.send(part(2, 'last', [fact.pod('p')]));
    expect(isPending()).toBe(false);
  });

  test('in one part answers it at once', async () => {
    await partition.send(first);
    expect(isPending()).toBe(false);
  });

  test('whose beginning was lost does not answer it', async () => {
    await partition.send(part(2, 'last', [fact.pod('p')]));
    expect(isPending()).toBe(true);
  });

  test.each([
    ['an earlier watcher', [2, 1]],
    ['the same watcher', [1, 2]],
  ] as const)('that is older than the state does not answer it, if it is of %s', async (_, newer) => {
    await partition.send(aSnapshot(newer, [service], versions));
    await partition.sendRaw(new TextEncoder().encode('{'));
    expect(isPending()).toBe(true);
    await partition.send(first);
    expect(isPending()).toBe(true);
  });
});
