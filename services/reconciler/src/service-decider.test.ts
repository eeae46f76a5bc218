import { MemoryBus } from '@sluice/bus';
import {
  type Change,
  decodeMessage,
  type Fact,
  type PlannedMutations,
  type ServiceKey,
  traceOf,
} from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { defaultSettings, evolve, type InFlight } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PartitionState } from './partition-state.ts';
import { oversize, planRecord, unpublishedPlans } from './service-decider.ts';
import { aPlan } from './testing/exported-metrics.ts';
import { TestPartition } from './testing/test-partition.ts';
import { aTrace } from './testing/traced-partition.ts';

describe('service decider', () => {
  const service: Fact = { kind: 'service', service: aService() };
  const versions = { endpoints: '9', endpointslices: '9' };
  const first = aSnapshot(1, [service, fact.pod('p')], versions);
  const db: ServiceKey = { ...key, service: 'db' };

  /** The first Change of Service `db`, which has one Pod. */
  const firstOfDb = (epoch = 1): Change => ({
    ...aSnapshot([epoch, 1], [{ kind: 'service', service: aService({ name: 'db' }) }, fact.pod('p')], versions),
    key: db,
  });

  let partition: TestPartition;

  beforeEach(() => {
    partition = new TestPartition();
  });

  afterEach(() => partition.stop());

  describe('a due decision', () => {
    const batchPeriodMs = { ...defaultSettings.batchPeriodMs, endpointslice: 500 };

    test('is reported as queued once its batch period is over, and then as made', async () => {
      await partition.start({ settings: { batchPeriodMs } });
      await partition.send(first);
      await partition.send(anOutcome(await partition.lastPlan()));
      partition.reported.length = 0;
      await partition.send(aChange(2, [fact.pod('q')]));
      expect(partition.reportedAs('due')).toEqual([]);
      await partition.settle(500);
      const steps = ['due', 'deciding', 'decided'];
      expect(partition.reported.filter(([method]) => steps.includes(method)).map((call) => call.slice(0, 3))).toEqual(
        steps.map((method) => [method, keyText, 'endpointslice']),
      );
    });

    test('without anything to write uses no plan number', async () => {
      await partition.start();
      await partition.send(first);
      await partition.send(anOutcome(await partition.lastPlan()));
      await partition.send(aChange(2, [fact.podGone('unknown')]), firstOfDb());
      expect(partition.reportedAs('decided')).toMatchObject([
        [keyText, 'endpointslice', { plan: { plan: { number: 1 } } }],
        [keyText, 'endpointslice', { kind: 'unchanged' }],
        ['c/shop/db', 'endpointslice', { plan: { plan: { number: 2 } } }],
      ]);
    });

    test('of all controllers for a Service leads to plans with consecutive numbers, slices first', async () => {
      await partition.start({ settings: defaultSettings });
      await partition.send(first);
      expect((await partition.plans()).map(({ controller, plan }) => `${controller} ${plan.number}`)).toEqual([
        'endpointslice 1',
        'endpoints 2',
      ]);
    });
  });

  test('a redelivered plan is no new decision', async () => {
    await partition.start();
    await partition.send(first);
    partition.reported.length = 0;
    await partition.settle(5_000);
    expect(await partition.plans()).toHaveLength(2);
    expect(partition.reported.filter(([method]) => method === 'deciding' || method === 'decided')).toEqual([]);
  });

  test('a decision that fails parks its Service and is reported without a result', async () => {
    let failing = true;
    const isStale = () => {
      if (failing) throw new Error('cannot decide');
      return false;
    };
    await partition.start({ settings: { policy: { ...defaultSettings.policy, isStale } } });
    await partition.send(first);
    expect(partition.reportedAs('decided')).toEqual([[keyText, 'endpointslice', undefined]]);
    expect(partition.reportedAs('parked')).toContainEqual([keyText, 'endpointslice', true]);
    failing = false;
    partition.reported.length = 0;
    await partition.send(aChange(2, [fact.pod('q')]));
    expect(partition.reportedAs('parked')).toContainEqual([keyText, 'endpointslice', false]);
    expect((await partition.lastPlan()).plan).toEqual({ epoch: 1, number: 1 });
  });

  describe('a plan says how many ready endpoints the cluster has in the partition', () => {
    const totalOfLast = async () => (await partition.lastPlan()).ready?.total;

    /** `web` gets two endpoints, `db` one. */
    beforeEach(async () => {
      await partition.start();
      await partition.send(aSnapshot(1, [service, fact.pod('p'), fact.pod('q')], versions));
      await partition.send(anOutcome(await partition.lastPlan()));
      await partition.send(firstOfDb());
    });

    test('those that it and other plans write included', async () => {
      expect(await totalOfLast()).toBe(2);
      await partition.send(anOutcome(await partition.lastPlan()), aChange(2, [fact.pod('r')]));
      expect(await totalOfLast()).toBe(3);
    });

    test('not those of another cluster', async () => {
      await partition.send({ ...first, key: { ...key, cluster: 'other' } });
      expect(await totalOfLast()).toBe(0);
    });

    test('not those of a removed cluster', async () => {
      await partition.send({ kind: 'clusterRemoved', cluster: 'c', epoch: 2 });
      await partition.send(firstOfDb(3));
      expect(await totalOfLast()).toBe(0);
    });

    test.each(['with its plan in flight', 'after its plan'])(
      'also those of another Service before a restart, %s',
      async (when) => {
        if (when === 'after its plan') await partition.send(anOutcome(await partition.lastPlan()));
        await partition.restart({ fencingToken: 2 });
        await partition.send(aChange(2, [fact.pod('r')]));
        expect((await partition.lastPlan()).key).toEqual(key);
        expect(await totalOfLast()).toBe(3);
      },
    );

    test('those of another Service as its last plan leaves them', async () => {
      await partition.send(anOutcome(await partition.lastPlan()), aChange(2, [fact.podGone('q')]));
      await partition.send({ ...aChange(2, [fact.pod('r')]), key: db });
      expect((await partition.lastPlan()).key).toEqual(db);
      expect(await totalOfLast()).toBe(2);
    });

    test('those of a Service whose slices need no plan included', async () => {
      const [mutation] = (await partition.plans())[0]?.groups[0]?.mutations ?? [];
      if (mutation?.verb !== 'create' || mutation.resource !== 'endpointslices') throw new Error('no slice is created');
      const { metadata } = mutation.object;
      const slice = { ...mutation.object, metadata: { ...metadata, uid: 'uid', resourceVersion: '5', generation: 1 } };
      const written: Fact = { kind: 'slice', name: metadata.name, slice, uid: 'uid' };
      await partition.stop();
      partition = new TestPartition();
      await partition.start();
      await partition.send(aSnapshot(1, [service, fact.pod('p'), fact.pod('q'), written], versions));
      expect(await partition.plans()).toEqual([]);
      await partition.send(firstOfDb());
      expect(await totalOfLast()).toBe(2);
    });

    test('a plan without a change of endpoints has none, and survives a restart', async () => {
      await partition.send(aChange(2, [{ kind: 'service', service: aService({ labels: { team: 'a' } }) }]));
      expect((await partition.lastPlan()).ready).toBeUndefined();
      await partition.restart({ fencingToken: 2 });
      expect(await partition.requests()).toEqual([]);
    });
  });

  describe('a plan that the bus can never take', () => {
    const limitedTo = (messageBytes: number) =>
      new TestPartition(
        new MemoryBus({ partitions: 1, limits: { recordBytes: Number.POSITIVE_INFINITY, messageBytes } }),
      );

    /** Size of the plan that the first Change leads to. */
    async function sizeOfPlan(): Promise<number> {
      await partition.start();
      await partition.send(first);
      const [record] = await partition.records('mutations');
      await partition.stop();
      return record?.payload.length ?? 0;
    }

    test('parks its Service, and the others continue', async () => {
      partition = limitedTo((await sizeOfPlan()) + 300);
      await partition.start();
      const pods = Array.from({ length: 50 }, (_, i) => fact.pod(`p${i}`));
      await partition.send(aSnapshot(1, [service, ...pods], versions), firstOfDb());
      expect((await partition.plans()).map((plan) => plan.key.service)).toEqual(['db']);
      expect(partition.reportedAs('parked')).toContainEqual([keyText, 'endpointslice', true]);
      expect(partition.reportedAs('decided')).toContainEqual([keyText, 'endpointslice', undefined]);
      partition.reported.length = 0;
      await partition.settle(60_000);
      expect(partition.reportedAs('decided')).toContainEqual([keyText, 'endpointslice', undefined]);
      // Something smaller fits again.
      await partition.send(aSnapshot(2, [service, fact.pod('p1')], versions));
      expect((await partition.lastPlan()).key).toEqual(key);
    });

    test('is one byte larger than the limit', async () => {
      const bytes = await sizeOfPlan();
      for (const [limit, plans] of [
        [bytes, 1],
        [bytes - 1, 0],
      ] as const) {
        partition = limitedTo(limit);
        await partition.start();
        await partition.send(first);
        expect(await partition.plans()).toHaveLength(plans);
        await partition.stop();
      }
    });

    test('is found by the next owner too, whose bus takes less', async () => {
      await partition.start();
      await partition.send(first);
      const { bus, store } = partition;
      const claim = store.claim.bind(store);
      store.claim = async (scope, token) => {
        const state = await claim(scope, token);
        return { ...state, entries: state.entries.filter(({ field }) => field !== 'publishedPlan') };
      };
      Object.defineProperty(bus, 'limits', { value: { recordBytes: Number.POSITIVE_INFINITY, messageBytes: 10 } });
      partition.reported.length = 0;
      await partition.restart({ fencingToken: 2 });
      expect(partition.reportedAs('decided')).toEqual([[keyText, 'endpointslice', undefined]]);
      expect(await partition.plans()).toHaveLength(1);
      await partition.settle(60_000);
      expect(partition.reportedAs('decided').length).toBeGreaterThan(1);
    });
  });
});

const plan = aPlan('endpointslice');

function inFlight(redeliveries: number, trace?: string): InFlight {
  const trackers = { triggersAfter: null, hintsAfter: null, watchEchoes: {} };
  return { message: plan, ...trackers, redeliverAt: 0, redeliveries, ...(trace !== undefined && { trace }) };
}

describe('the record of a plan', () => {
  test('is always the same one, with the trace of the plan', () => {
    const record = planRecord('c/shop/web', inFlight(0, aTrace(1)));
    expect(record).toMatchObject({ key: 'c/shop/web', id: 'c/shop/web/endpointslice/1/1' });
    expect(traceOf(record.headers)).toBe(aTrace(1));
    expect(decodeMessage(record.payload)).toEqual(plan);
  });

  test('has an id of its own for each redelivery, or the bus would drop it', () => {
    const ids = [0, 1, 2].map((redeliveries) => planRecord('c/shop/web', inFlight(redeliveries)).id);
    expect(new Set(ids).size).toBe(3);
  });

  test('is oversize if its payload exceeds the limit of the bus', () => {
    const record = planRecord('c/shop/web', inFlight(0));
    const { length } = record.payload;
    const reasons = [length, length - 1, Number.POSITIVE_INFINITY].map((messageBytes) =>
      oversize(record, { recordBytes: 0, messageBytes }),
    );
    expect(reasons).toEqual([undefined, expect.stringContaining(`${length} bytes`), undefined]);
  });

  test('is not encoded if the bus has no limit', () => {
    const record = {
      ...{ key: '', id: '', headers: {} },
      get payload(): Uint8Array {
        throw new Error('encoded');
      },
    };
    expect(oversize(record, { recordBytes: 0, messageBytes: Number.POSITIVE_INFINITY })).toBeUndefined();
  });
});

test('plans that may not be published are found in the order of their numbers', () => {
  const state = new PartitionState({ clock: new VirtualClock(), random: seededRandom(1) }, () => {});
  const planned = (service: string, controller: 'endpoints' | 'endpointslice', number: number): PlannedMutations => ({
    ...{ ...plan, controller },
    ...{ key: { ...key, service }, plan: { epoch: 1, number } },
  });
  for (const one of [planned('web', 'endpointslice', 4), planned('web', 'endpoints', 2), planned('db', 'endpoints', 3)])
    evolve(state.service(`c/shop/${one.key.service}`), one, 0, defaultSettings);
  state.service('c/shop/idle');
  const found = () => unpublishedPlans(state).map((one) => [one.key, one.plan.message.plan.number]);
  expect(found()).toEqual([
    ['c/shop/web', 2],
    ['c/shop/db', 3],
    ['c/shop/web', 4],
  ]);
  state.planNumbers.markPublished(3);
  expect(found()).toEqual([['c/shop/web', 4]]);
});
