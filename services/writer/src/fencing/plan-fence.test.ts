import { encodeMessage, formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { aPlan, aSlice, create, remove, someEndpoints, update } from '../testing/plans.ts';
import { hasPreconditions, PlanFence, readPlan } from './plan-fence.ts';

const plan = (number: number, epoch = 1) => ({ epoch, number });

test('rejects completed plans and those they supersede, for the same work key only', () => {
  const fence = new PlanFence();
  fence.complete('web', plan(5));
  expect([4, 5, 6].map((number) => fence.rejects('web', plan(number)))).toEqual([true, true, false]);
  expect(fence.rejects('db', plan(4))).toBe(false);
});

test('a single high-water mark covers every plan up to the checkpoint', () => {
  const fence = new PlanFence();
  fence.complete('web', plan(1));
  fence.complete('db', plan(3));
  expect(fence.advance([plan(1), plan(2)])).toEqual([{ key: 'plans', field: 'completed', value: plan(2) }]);
  expect(fence.advance([plan(2)])).toEqual([]);
  expect([2, 3].map((number) => fence.rejects('cart', plan(number)))).toEqual([true, false]);
  expect(fence.rejects('db', plan(3))).toBe(true);
});

test('continues from stored entries, and accepts the plans of a new owner', () => {
  const [before, after] = [new PlanFence(), new PlanFence()];
  after.load(before.advance([plan(7)]));
  expect(after.rejects('web', plan(7))).toBe(true);
  expect(after.rejects('web', plan(1, 2))).toBe(false);
});

test('an older plan that completes later does not let a newer one be applied again', () => {
  const fence = new PlanFence();
  fence.complete('web', plan(25));
  fence.complete('web', plan(21));
  expect(fence.rejects('web', plan(25))).toBe(true);
});

test('a newer plan that completes replaces the older one', () => {
  const fence = new PlanFence();
  fence.complete('web', plan(21));
  fence.complete('web', plan(25));
  expect([24, 25, 26].map((number) => fence.rejects('web', plan(number)))).toEqual([true, true, false]);
});

const deletion = (given: object): Mutation => ({
  ...{ verb: 'delete', resource: 'endpointslices', name: 'web-bbbbb', ...given },
});
const unconditional: Mutation = { verb: 'update', resource: 'endpoints', object: someEndpoints };

test.each<[string, boolean, readonly Mutation[]]>([
  ['no write', true, []],
  ['an update with a resourceVersion', true, [update('a')]],
  ['an update without one', false, [unconditional]],
  ['a create', false, [create('a')]],
  ['a deletion with a UID', true, [deletion({ uid: 'u' })]],
  ['a deletion with a resourceVersion', true, [deletion({ resourceVersion: '7' })]],
  ['a deletion by name', false, [deletion({})]],
  ['one unsafe write among safe ones', false, [update('a'), create('b'), remove('c')]],
])('a plan with %s can be repeated safely: %s', (_, expected, mutations) => {
  expect(hasPreconditions(aPlan([mutations]))).toBe(expected);
  expect(hasPreconditions(aPlan([[update('z')], mutations]))).toBe(expected);
});

const read = (plan: PlannedMutations, key = formatServiceKey(plan.key)) =>
  readPlan({ key, headers: {}, payload: encodeMessage(plan) });

const slice = (metadata: object): Mutation => ({
  verb: 'create',
  resource: 'endpointslices',
  object: { ...aSlice('web-1'), metadata: { ...aSlice('web-1').metadata, ...metadata } },
});
const endpoints = (metadata: object): Mutation => ({
  verb: 'update',
  resource: 'endpoints',
  object: { ...someEndpoints, metadata: { ...someEndpoints.metadata, ...metadata } },
});

describe('a plan', () => {
  test('is decoded unchanged', () => {
    const plan = aPlan([
      [create('web-1'), update('web-2'), remove('web-3')],
      [endpoints({}), remove('web', 'endpoints')],
    ]);
    expect(read(plan)).toEqual(plan);
  });

  test.each<[string, Mutation, string]>([
    ['slice in another namespace', slice({ namespace: 'kube-system' }), 'namespace'],
    ['Endpoints in another namespace', endpoints({ namespace: 'kube-system' }), 'namespace'],
    ['slice of another Service', slice({ labels: { 'kubernetes.io/service-name': 'db' } }), 'Service'],
    ['slice of no Service', slice({ labels: {} }), 'Service'],
    ['Endpoints of another Service', endpoints({ name: 'db' }), 'Service'],
    ['deletion of the Endpoints of another Service', remove('db', 'endpoints'), 'Service'],
  ])('with a %s is rejected', (_, forged, what) => {
    expect(() => read(aPlan([[create('web-1')], [forged]]))).toThrow(`c/shop/web writes outside its ${what}`);
  });

  test('under the key of another Service or cluster is rejected', () => {
    expect(() => read(aPlan([[create('web-1')]]), 'c/shop/db')).toThrow('under key c/shop/db');
    expect(() => read(aPlan([[create('web-1')]]), 'other/shop/web')).toThrow('under key other/shop/web');
  });
});
