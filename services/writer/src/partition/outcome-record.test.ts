import { noBusLimits } from '@sluice/bus';
import { type MutationResult, noCauses, type Outcome } from '@sluice/messages';
import { expect, test } from 'vitest';
import { outcomeRecord } from './report-outcome.ts';

const head = { key: 'c/shop/web', id: 'id', headers: {} };
const slice = {
  metadata: { name: 'web-x', namespace: 'shop' },
  addressType: 'IPv4' as const,
  endpoints: [],
  ports: null,
};
const base = { group: 0, verb: 'update', resource: 'endpointslices', name: 'web-x', status: 'failed' } as const;
const results: readonly MutationResult[] = [
  { ...base, index: 0, current: { ...slice, metadata: { ...slice.metadata, annotations: { a: 'x'.repeat(1_000) } } } },
  { ...base, index: 1, current: null },
];
const outcome: Outcome = {
  ...{ kind: 'outcome', key: { cluster: 'c', namespace: 'shop', service: 'web' }, controller: 'endpointslice' },
  ...{ plan: { epoch: 1, number: 1 }, status: 'applied', results, message: '', causes: noCauses },
  ...{ decidedAt: 1, completedAt: 2, retries: 0 },
};
const within = (messageBytes: number) => {
  const { message, payload } = outcomeRecord(head, outcome, { recordBytes: 10, messageBytes });
  expect(payload.length).toBeLessThanOrEqual(messageBytes);
  return message;
};

test('an Outcome that fits is complete', () => {
  expect(within(10_000)).toBe(outcome);
  expect(outcomeRecord(head, outcome, noBusLimits).message).toBe(outcome);
});

test('an Outcome may be exactly as large as the bus permits', () => {
  const { payload } = outcomeRecord(head, outcome, noBusLimits);
  expect(within(payload.length)).toBe(outcome);
  expect(within(payload.length - 1)).not.toBe(outcome);
});

test('a larger one leaves out the objects that were read back, but not that an object does not exist', () => {
  expect(within(1_000)).toEqual({
    ...outcome,
    results: [
      { ...base, index: 0 },
      { ...base, index: 1, current: null },
    ],
  });
});

test('if even that is too large, the reconciler decides again', () => {
  expect(within(400)).toMatchObject({ status: 'conflict', results: [], plan: outcome.plan });
});
