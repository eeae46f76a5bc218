import { decodeMessage, type PlannedMutations, traceOf } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { defaultSettings, evolve, type InFlight } from '@sluice/service-state';
import { key } from '@sluice/service-state/testing';
import { describe, expect, test } from 'vitest';
import { PartitionState } from './partition-state.ts';
import { oversize, planRecord, unpublishedPlans } from './plan-record.ts';
import { aPlan } from './testing/exported-metrics.ts';
import { aTrace } from './testing/traced-partition.ts';

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
