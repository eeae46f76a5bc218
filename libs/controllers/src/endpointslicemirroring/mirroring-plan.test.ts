import { type EndpointSlice, type EndpointSubset, type Endpoints, emptyPlan } from '@sluice/model';
import { aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { expect, it } from 'vitest';
import { applyPlan, nothingWritten } from '../testing/apply-plan.ts';
import { reconcileMirroring } from './controller.ts';

const service = aService({ selector: null });
const decide = (endpoints: Endpoints | null, slices: Iterable<EndpointSlice> = []) =>
  reconcileMirroring({ service, endpoints, slices, maxEndpointsPerSubset: 10 }).plan;
const subset = (...ips: string[]): EndpointSubset => ({ addresses: ips.map((ip) => ({ ip })) });
const mirrored = (endpoints: Endpoints) => applyPlan(nothingWritten, decide(endpoints)).slices.values();

it('a plan is empty if there is nothing to write', () => {
  const endpoints = someEndpoints({ subsets: [subset('10.0.0.1')] });
  expect(decide(endpoints, mirrored(endpoints))).toEqual(emptyPlan);
  expect(decide(null)).toEqual(emptyPlan);
});

it('a plan may contain nothing but Events', () => {
  const endpoints = someEndpoints({ subsets: [subset('10.0.0.1', 'host')] });
  const { groups, events, incomplete } = decide(endpoints, mirrored(endpoints));
  expect([groups, events.length, incomplete]).toEqual([[], 1, []]);
});

it('slices are deleted in the order of their names (H6)', () => {
  const names = ['c', 'a', 'd', 'b'];
  const deleted = decide(
    null,
    names.map((name) => aSlice(name)),
  ).groups.flatMap(({ mutations }) => mutations);
  expect(deleted.map((one) => one.verb === 'delete' && one.name)).toEqual(['a', 'b', 'c', 'd']);
});

it('a slice is deleted in the version that is known, an Event names the Endpoints that are known', () => {
  const { metadata } = aSlice('s');
  const { uid: _uid, resourceVersion: _version, ...bare } = metadata;
  const deletionOf = (slice: EndpointSlice) => decide(null, [slice]).groups[0]?.mutations;
  const deletion = { verb: 'delete', resource: 'endpointslices', name: 's' };
  expect(deletionOf(aSlice('s'))).toStrictEqual([{ ...deletion, uid: 'uid-s', resourceVersion: '7' }]);
  expect(deletionOf({ ...aSlice('s'), metadata: bare })).toStrictEqual([deletion]);
  const unknown = { metadata: { name: 'web', namespace: 'shop' }, subsets: [subset('host')] };
  const [event] = decide(unknown).events;
  expect(event?.regarding).toStrictEqual({ kind: 'Endpoints', namespace: 'shop', name: 'web' });
});
