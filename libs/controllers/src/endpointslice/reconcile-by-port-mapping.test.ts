import type { Endpoint, EndpointSlice } from '@sluice/model';
import { aPod, aService, aSlice } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { podToEndpoint } from './desired-endpoints.ts';
import { EndpointSet } from './endpoint-identity.ts';
import { reconcileByPortMapping } from './reconcile-by-port-mapping.ts';

const service = aService();
const ports = aSlice('x').ports ?? [];
const endpoint = (i: number, ready = true): Endpoint =>
  podToEndpoint(aPod(i, { ready }), { zone: 'a' }, service, 'IPv4');
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => endpoint(from + i));
const slice = (name: string, endpoints: readonly Endpoint[]) => aSlice(name, { endpoints });

function pack(desired: readonly Endpoint[], existing: readonly EndpointSlice[], max: number) {
  const endpoints = new EndpointSet();
  for (const one of desired) endpoints.insert(one);
  const { toCreate, toUpdate, toDelete } = reconcileByPortMapping(service, 'IPv4', { ports, endpoints }, existing, max);
  const sizes = (slices: readonly EndpointSlice[]) => slices.map((one) => one.endpoints?.length ?? 0);
  const named = (slices: readonly EndpointSlice[]) =>
    slices.map((one) => `${one.metadata.name}:${one.endpoints?.length}`);
  return { create: sizes(toCreate), update: named(toUpdate), delete: named(toDelete) };
}

describe('reconcileByPortMapping (E19–E21)', () => {
  it('changes nothing if all endpoints are in place', () => {
    expect(pack(range(0, 3), [slice('s', range(0, 3))], 3)).toEqual({ create: [], update: [], delete: [] });
  });

  it('creates full slices and one for the rest', () => {
    expect(pack(range(0, 7), [], 3)).toEqual({ create: [3, 3, 1], update: [], delete: [] });
  });

  it('updates a slice with a changed endpoint', () => {
    expect(pack([endpoint(0, false)], [slice('s', [endpoint(0)])], 3)).toEqual({
      create: [],
      update: ['s:1'],
      delete: [],
    });
  });

  it.each<[string, Partial<Endpoint>, boolean]>([
    ['another Node', { nodeName: 'node-b' }, true],
    ['another zone', { zone: 'b' }, true],
    ['another readiness', { conditions: { ready: false, serving: true, terminating: false } }, true],
    ['another serving', { conditions: { ready: true, serving: false, terminating: false } }, true],
    ['another terminating', { conditions: { ready: true, serving: true, terminating: true } }, true],
    ['an unknown condition', { conditions: { ready: true, serving: true } }, true],
    ['a Pod with another UID', { targetRef: { ...endpoint(0).targetRef, uid: 'other' } }, true],
    ['another version of the Pod', { targetRef: { ...endpoint(0).targetRef, resourceVersion: '9' } }, false],
    ['hints', { hints: { forZones: [{ name: 'a' }] } }, false],
    ['deprecated topology', { deprecatedTopology: { a: 'b' } }, false],
  ])('compares endpoints with %s (C24)', (_, given, differs) => {
    const { update } = pack([endpoint(0)], [slice('s', [{ ...endpoint(0), ...given }])], 3);
    expect(update).toEqual(differs ? ['s:1'] : []);
  });

  it('deletes an emptied slice and does not merge the others', () => {
    const existing = [slice('s', range(0, 3)), slice('t', range(3, 4)), slice('u', range(4, 5))];
    expect(pack(range(3, 5), existing, 3)).toEqual({ create: [], update: [], delete: ['s:3'] });
  });

  it('removes an endpoint that a second slice contains too', () => {
    const existing = [slice('s', range(0, 2)), slice('t', range(0, 3))];
    expect(pack(range(0, 3), existing, 3)).toEqual({ create: [], update: ['t:1'], delete: [] });
  });

  it('fills updated slices, the fullest first', () => {
    const existing = [slice('s', [...range(0, 1), endpoint(90)]), slice('t', [...range(1, 4), endpoint(91)])];
    expect(pack(range(0, 6), existing, 5)).toEqual({ create: [], update: ['s:1', 't:5'], delete: [] });
  });

  it('adds all remaining endpoints to the one slice that becomes fullest', () => {
    const existing = [slice('s', range(0, 1)), slice('t', range(1, 4)), slice('u', range(4, 9))];
    expect(pack(range(0, 11), existing, 5)).toEqual({ create: [], update: ['t:5'], delete: [] });
  });

  it('adds them to the first of slices that become equally full', () => {
    const existing = [slice('s', range(0, 2)), slice('t', range(2, 4))];
    expect(pack(range(0, 5), existing, 5)).toEqual({ create: [], update: ['s:3'], delete: [] });
  });

  it('prefers one create to several updates', () => {
    const existing = [slice('s', range(0, 4)), slice('t', range(4, 8))];
    expect(pack(range(0, 10), existing, 5)).toEqual({ create: [2], update: [], delete: [] });
  });

  it('creates a slice if the remaining endpoints fill one', () => {
    expect(pack(range(0, 5), [slice('s', [])], 5)).toEqual({ create: [5], update: [], delete: [] });
  });

  it("updates a slice with wrong labels and removes the user's (E26)", () => {
    const { metadata } = aSlice('s');
    const labelled = aSlice('s', {
      endpoints: range(0, 1),
      metadata: { ...metadata, labels: { ...metadata.labels, user: 'x' } },
    });
    expect(pack(range(0, 1), [labelled], 5)).toEqual({ create: [], update: ['s:1'], delete: [] });
  });
});
