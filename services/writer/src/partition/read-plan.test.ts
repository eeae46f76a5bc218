import { encodeMessage, formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { aPlan, aSlice, create, remove, someEndpoints, update } from '../testing/plans.ts';
import { readPlan } from './read-plan.ts';

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
