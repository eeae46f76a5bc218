import type { Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from './comparison/json.ts';
import type { ClusterState } from './comparison/normalise.ts';
import { examine } from './samples.ts';
import { aPlan, aSlice } from './testing/plans.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const asStored = (object: object): JsonObject => JSON.parse(JSON.stringify(object));
const stored = (name: string, addresses: readonly string[]) =>
  asStored(aSlice(name, addresses, { uid: name, resourceVersion: '7' }));
const service: JsonObject = { metadata: { namespace: 'shop', name: 'web', uid: 'u' } };

const state = (slices: readonly JsonObject[], more: Partial<ClusterState> = {}): ClusterState => ({
  ...{ services: [service], pods: [], endpoints: [], endpointslices: slices },
  ...more,
});
const context = { minor: 36, maxEndpointsPerSlice: 100, overlooked: false };

const update = (name: string, addresses: readonly string[]): Mutation => ({
  ...{ verb: 'update', resource: 'endpointslices', object: aSlice(name, addresses) },
});

describe('what a plan would change', () => {
  test('is listed field by field, unexplained unless a rule explains it', () => {
    const plan = aPlan({ key, mutations: [update('web-a', ['10.0.0.1', '10.0.0.2'])] });
    const examined = examine(state([stored('web-a', ['10.0.0.1'])]), plan, context);
    expect(examined).toMatchObject([{ difference: { kind: 'object' }, explanation: undefined }]);
    expect(examined).toMatchObject([{ difference: { lines: [expect.stringContaining('absent ≠')] } }]);
  });

  test('may be irrelevant: order, versions, the trigger time', () => {
    const there = stored('web-a', ['10.0.0.1', '10.0.0.2']);
    const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' };
    const object = aSlice('web-a', ['10.0.0.2', '10.0.0.1'], { annotations });
    const plan = aPlan({ key, mutations: [{ verb: 'update', resource: 'endpointslices', object }] });
    expect(examine(state([there]), plan, context)).toBe('equal');
  });

  test.each<[string, readonly JsonObject[], Mutation]>([
    ['updates a missing object', [], update('web-a', [])],
    ['deletes a missing object', [], { verb: 'delete', resource: 'endpointslices', name: 'web-a' }],
    [
      'creates an existing object',
      [stored('web-a', [])],
      { verb: 'create', resource: 'endpointslices', object: aSlice('web-a', []) },
    ],
  ])('is unknown if it %s, because the cluster has changed', (_, slices, mutation) => {
    expect(examine(state(slices), aPlan({ key, mutations: [mutation] }), context)).toBe('passed');
  });

  test('shows a reference to another object of the same name', () => {
    const withUid = (uid: string) => ({
      ...aSlice('web-a', []),
      endpoints: [{ addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', namespace: 'shop', name: 'p', uid } }],
    });
    const plan = aPlan({ key, mutations: [{ verb: 'update', resource: 'endpointslices', object: withUid('new') }] });
    expect(examine(state([asStored(withUid('old'))]), plan, context)).toMatchObject([
      { difference: { lines: [expect.stringContaining('"old" ≠ "new"')] } },
    ]);
  });
});

describe('explanations', () => {
  const rules = (...given: Parameters<typeof examine>) => {
    const examined = examine(...given);
    return typeof examined === 'string' ? examined : examined.map(({ explanation }) => explanation?.rules);
  };
  const missing = aPlan({ key, mutations: [update('web-a', ['10.0.0.1'])] });
  const empty = state([stored('web-a', [])]);

  test('a change that upstream ignores', () => {
    expect(rules(empty, missing, { ...context, overlooked: true })).toEqual([expect.stringContaining('C12')]);
    expect(rules(empty, missing, context)).toEqual([undefined]);
  });

  test('a Pod whose Node is unknown (E15)', () => {
    expect(rules(empty, { ...missing, incomplete: ['node-7 is unknown'] }, context)).toEqual(['E15']);
  });

  const endpoints = (labels: Record<string, string>) => ({
    metadata: { namespace: 'shop', name: 'web', uid: 'e', labels },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }] }],
  });
  const label = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
  const relabel = aPlan({ key, mutations: [{ verb: 'update', resource: 'endpoints', object: endpoints(label) }] });

  test('the label that Endpoints have from 1.33 on, in older clusters', () => {
    const old = state([], { endpoints: [asStored(endpoints({}))] });
    expect(rules(old, relabel, { ...context, minor: 32 })).toEqual(['D (1.33)']);
    expect(rules(old, relabel, { ...context, minor: 33 })).toEqual([undefined]);
    const wrong = state([], { endpoints: [asStored({ ...endpoints({}), subsets: [] })] });
    expect(rules(wrong, relabel, { ...context, minor: 32 })).toEqual([undefined]);
  });

  test('the sweep of Endpoints without a Service (D4)', () => {
    const sweep = aPlan({ key, mutations: [{ verb: 'delete', resource: 'endpoints', name: 'web', uid: 'e' }] });
    const left = { endpoints: [asStored(endpoints({}))] };
    expect(rules(state([], { ...left, services: [] }), sweep, context)).toEqual(['D4']);
    expect(rules(state([], left), sweep, context)).toEqual([undefined]);
  });
});
