import type { EndpointSlice, Endpoints, MutationGroup, Pod } from '@sluice/controllers';
import { beforeEach, describe, expect, test } from 'vitest';
import { ReadyEndpoints } from './ready-endpoints.ts';
import { readyEndpointsDelta } from './ready-endpoints-delta.ts';
import { ServiceState } from './service-state.ts';
import { key } from './testing/messages.ts';
import { aPod, aService, aSlice, mirroring, someEndpoints } from './testing/objects.ts';

const stamp = { epoch: 1, sequence: 1 };
let view: ServiceState;
let partition: ReadyEndpoints;

beforeEach(() => {
  view = new ServiceState(key);
  partition = new ReadyEndpoints();
  view.set('service', { service: aService(), stamp });
  view.setSlice('a', { slice: sliceOf('a', ['p1', 'p2', 'p3', 'p4']), stamp });
  for (const name of ['p1', 'p2', 'p3', 'p4']) setPod(name);
});

function setPod(name: string, given: Partial<Pod> = {}, node: { zone: string } | null = { zone: 'a' }): void {
  view.setPod(name, { pod: aPod(name, given), node, stamp });
}

function sliceOf(name: string, ready: readonly string[], notReady: readonly string[] = [], manager?: string) {
  const endpoint = (pod: string, isReady: boolean) => ({
    addresses: ['10.1.0.1'],
    conditions: { ready: isReady },
    targetRef: { kind: 'Pod', name: pod, uid: `uid-${pod}` },
  });
  return {
    ...aSlice(name, manager === undefined ? {} : { manager }),
    endpoints: [...ready.map((pod) => endpoint(pod, true)), ...notReady.map((pod) => endpoint(pod, false))],
  };
}

const update = (object: EndpointSlice): MutationGroup[] => [
  { mutations: [{ verb: 'update', resource: 'endpointslices', object }] },
];
const change = (groups: readonly MutationGroup[]) => readyEndpointsDelta(view, 'endpointslice', groups, partition);

describe('the number', () => {
  test('of endpoints that a plan adds or takes, and of all in the partition', () => {
    partition.set({ ...key, service: 'db' }, 'endpointslice', 10);
    partition.set({ ...key, cluster: 'other' }, 'endpointslice', 100);
    partition.set({ ...key, service: 'db' }, 'endpoints', 1_000);
    expect(change(update(sliceOf('a', ['p1', 'p2'])))).toMatchObject({ delta: -2, total: 14 });
    // It is noted as written; what is known is still what it was.
    expect(partition.among(key, 'endpointslice', 2)).toBe(12);
    const create = { verb: 'create', resource: 'endpointslices', object: sliceOf('b', ['p5']) } as const;
    expect(change([{ mutations: [create] }])).toEqual({ delta: 1, total: 14 });
    const remove = { verb: 'delete', resource: 'endpointslices', name: 'a' } as const;
    expect(change([{ mutations: [remove] }, { mutations: [create] }])).toMatchObject({ delta: -3 });
  });

  test('is not told where it stays', () => {
    expect(change(update(sliceOf('a', ['p1', 'p2', 'p3', 'p5'])))).toBeUndefined();
    expect(change([])).toBeUndefined();
  });

  test('counts what is ready alone', () => {
    expect(change(update(sliceOf('a', ['p1', 'p2', 'p3'], ['p4'])))).toMatchObject({ delta: -1 });
  });

  test('of a plan that came to nothing before says so', () => {
    const state = view.controller('endpointslice');
    view.setController('endpointslice', { ...state, parkedSince: 5 });
    expect(change(update(sliceOf('a', [])))).toMatchObject({ repeated: true });
    view.setController('endpointslice', { ...state, failures: 1 });
    expect(change(update(sliceOf('a', [])))).toMatchObject({ repeated: true });
  });
});

describe('what a loss rests on', () => {
  const evidence = (ready: readonly string[] = []) => change(update(sliceOf('a', ready)))?.evidence;

  test('a Pod that is gone, is another one, is not ready, ends, or has no Node', () => {
    view.removePod('p1');
    setPod('p2', { uid: 'another' });
    setPod('p3', { ready: false });
    expect(evidence(['p4'])).toEqual([
      { kind: 'pod', name: 'p1', uid: 'uid-p1' },
      { kind: 'pod', name: 'p2', uid: 'uid-p2' },
      { kind: 'readiness', name: 'p3', uid: 'uid-p3' },
    ]);
    setPod('p1', { terminating: true });
    setPod('p2', {}, null);
    setPod('p3');
    expect(evidence(['p3', 'p4'])).toEqual([
      { kind: 'readiness', name: 'p1', uid: 'uid-p1' },
      { kind: 'node', name: 'node-a' },
    ]);
  });

  test('is told of three of them at most', () => {
    for (const name of ['p1', 'p2', 'p3', 'p4']) view.removePod(name);
    expect(evidence()).toHaveLength(3);
  });

  test('is nothing that can be looked up where the Pods are as they should be', () => {
    expect(evidence()).toEqual([]);
  });

  test('the Service, if there is none', () => {
    view.set('service', undefined);
    expect(evidence()).toEqual([{ kind: 'service' }]);
  });

  test('of Endpoints: their addresses', () => {
    const before: Endpoints = {
      ...someEndpoints(),
      subsets: [{ addresses: [{ ip: '10.1.0.1', targetRef: { kind: 'Pod', name: 'p1', uid: 'uid-p1' } }] }],
    };
    view.set('endpoints', { endpoints: before, stamp });
    view.removePod('p1');
    const groups = [{ mutations: [{ verb: 'update', resource: 'endpoints', object: someEndpoints() }] }] as const;
    expect(readyEndpointsDelta(view, 'endpoints', groups, partition)).toEqual({
      delta: -1,
      total: 1,
      evidence: [{ kind: 'pod', name: 'p1', uid: 'uid-p1' }],
    });
  });

  test('of mirrored slices: Endpoints that are gone, not such as a user changed', () => {
    view.setSlice('m', { slice: sliceOf('m', ['p1'], [], mirroring), stamp });
    const groups = [{ mutations: [{ verb: 'delete', resource: 'endpointslices', name: 'm' }] }] as const;
    const mirrored = () => readyEndpointsDelta(view, 'endpointslicemirroring', groups, partition);
    expect(mirrored()).toEqual({ delta: -1, total: 1, evidence: [{ kind: 'endpoints' }] });
    view.set('endpoints', { endpoints: someEndpoints(), stamp });
    expect(mirrored()).toMatchObject({ evidence: [] });
  });
});

test('a Service that is dropped counts no more', () => {
  partition.set(key, 'endpointslice', 5);
  partition.set(key, 'endpoints', 5);
  partition.drop(key);
  expect(partition.among({ ...key, service: 'db' }, 'endpointslice', 0)).toBe(0);
  expect(partition.knows(key, 'endpoints')).toBe(false);
});
