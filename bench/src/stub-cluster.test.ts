import type { PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';
import { expect, it } from 'vitest';
import { StubCluster } from './stub-cluster.ts';

const slice = (ready: boolean, resourceVersion?: string): EndpointSlice => ({
  metadata: { namespace: 'bench', name: 'web-x', ...(resourceVersion !== undefined && { resourceVersion }) },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready }, targetRef: { kind: 'Pod', name: 'web-0' } }],
});

const plan = (...mutations: Mutation[]): PlannedMutations => ({
  kind: 'mutations',
  key: { cluster: 'c', namespace: 'bench', service: 'web' },
  controller: 'endpointslice',
  plan: { epoch: 1, number: 1 },
  groups: [{ mutations }],
  events: [],
  incomplete: [],
  serviceUid: 'uid',
  causes: { first: [], more: 0 },
  decidedAt: 0,
});

const create = (ready: boolean): Mutation => ({ verb: 'create', resource: 'endpointslices', object: slice(ready) });
const update = (ready: boolean, version: string): Mutation => ({
  verb: 'update',
  resource: 'endpointslices',
  object: slice(ready, version),
});

it('stores writes and returns the events of a watch', () => {
  const cluster = new StubCluster();
  const { results, facts } = cluster.apply(plan(create(true)));
  expect(results[0]?.stored).toEqual({ uid: 'uid-endpointslices-web-x', resourceVersion: '1', generation: 1 });
  expect(facts).toMatchObject([{ kind: 'slice', name: 'web-x', slice: { metadata: { resourceVersion: '1' } } }]);
  expect(cluster.inSlices('web')).toEqual(new Map([['web-0', true]]));
  cluster.apply(plan(update(false, '1')));
  expect(cluster.inSlices('web')).toEqual(new Map([['web-0', false]]));
  cluster.apply(plan({ verb: 'delete', resource: 'endpointslices', name: 'web-x', resourceVersion: '2' }));
  expect(cluster.inSlices('web')).toEqual(new Map());
});

it('rejects writes with violated preconditions', () => {
  const cluster = new StubCluster();
  expect(() => cluster.apply(plan(update(false, '1')))).toThrow('does not exist');
  cluster.apply(plan(create(true)));
  expect(() => cluster.apply(plan(create(true)))).toThrow('already exists');
  expect(() => cluster.apply(plan(update(false, '7')))).toThrow('resourceVersion is 1, not 7');
});
