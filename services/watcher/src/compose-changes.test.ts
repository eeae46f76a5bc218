import type { Fact } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { composeChanges, factsPerChange } from './compose-changes.ts';
import { addReason, type DirtyReason, emptyDirtyEntry } from './dirty-set.ts';
import { Indexer } from './indexer.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';

const resourceVersions = { endpoints: '7', endpointslices: '9' };
let indexer: Indexer;

beforeEach(() => {
  indexer = new Indexer();
});

function composed(...given: DirtyReason[]) {
  const dirty = emptyDirtyEntry({ cluster: 'c', namespace: 'shop', service: 'web' });
  for (const reason of given) addReason(dirty, reason, undefined);
  return composeChanges(indexer, dirty, resourceVersions);
}

function facts(...given: DirtyReason[]): readonly Fact[] {
  return composed(...given).flatMap((part) => part.facts);
}

const snapshot: DirtyReason = { kind: 'snapshot', initial: false };

describe('changes', () => {
  test('are published once, with the current state', () => {
    indexer.setService(aService('web'));
    indexer.setNode(aNode('n1', 'a'));
    indexer.setPod(aPod('p', { app: 'web' }, { ready: false }));
    const reasons: DirtyReason[] = [
      { kind: 'pod', name: 'p' },
      { kind: 'pod', name: 'p' },
    ];
    indexer.setPod(aPod('p', { app: 'web' }));
    expect(facts(...reasons)).toEqual([
      { kind: 'pod', name: 'p', pod: expect.objectContaining({ ready: true }), node: { zone: 'a' } },
    ]);
  });

  test.each<[string, () => void]>([
    ['deleted', () => {}],
    ['deselected', () => indexer.setPod(aPod('p', { app: 'db' }))],
  ])('a Pod that is %s is published as deleted', (_, arrange) => {
    indexer.setService(aService('web'));
    arrange();
    expect(facts({ kind: 'pod', name: 'p' })).toEqual([{ kind: 'pod', name: 'p', pod: null, node: null }]);
  });

  test('a Pod on an unknown Node has no placement', () => {
    indexer.setService(aService('web'));
    indexer.setPod(aPod('p', { app: 'web' }));
    expect(facts({ kind: 'pod', name: 'p' })).toMatchObject([{ name: 'p', node: null }]);
  });

  test('a Service that asks for hints carries the zone ratios, any other one null', () => {
    indexer.setNode(aNode('n1', 'a'));
    indexer.setService(aService('web', { annotations: asksForHints }));
    indexer.setService(aService('db', { annotations: asksForHints }));
    const ratios = { kind: 'topology', topology: {}, hintedServices: 2 };
    expect(facts({ kind: 'service' })).toMatchObject([{ kind: 'service' }, ratios]);
    indexer.deleteService('shop', 'db');
    expect(facts({ kind: 'topology' })).toMatchObject([{ ...ratios, hintedServices: 1 }]);
    indexer.setService(aService('web'));
    expect(facts({ kind: 'service' })[1]).toEqual({ kind: 'topology', topology: null });
    indexer.deleteService('shop', 'web');
    expect(facts({ kind: 'service' })).toEqual([{ kind: 'service', service: null }]);
    expect(facts({ kind: 'topology' })).toEqual([]);
  });

  test('of slices and Endpoints carry the UID of the current object, or else of the deleted one', () => {
    indexer.endpoints.set('shop/web', someEndpoints('web', 'u2'));
    indexer.setSlice(aSlice('s1', 'web', { uid: 'v2' }));
    const reasons: DirtyReason[] = [
      { kind: 'endpoints', uid: 'u1' },
      { kind: 'slice', name: 's1', uid: 'v1', relabelled: false },
      { kind: 'slice', name: 's2', uid: 'w1', relabelled: false },
      { kind: 'slice', name: 's3', uid: 'x1', relabelled: true },
    ];
    expect(facts(...reasons)).toMatchObject([
      { kind: 'endpoints', endpoints: {}, uid: 'u2' },
      { kind: 'slice', name: 's1', slice: {}, uid: 'v2' },
      { kind: 'slice', name: 's2', slice: null, uid: 'w1' },
      { kind: 'slice', name: 's3', slice: null, uid: 'x1', relabelled: true },
    ]);
    expect(facts({ kind: 'endpoints', uid: 'u2', manager: 'kubectl-edit' })).toMatchObject([
      { kind: 'endpoints', manager: 'kubectl-edit' },
    ]);
    const relabelled = { kind: 'slice', name: 's3', uid: 'x1', relabelled: true, manager: 'kubectl-label' } as const;
    expect(facts(relabelled)).toMatchObject([{ kind: 'slice', slice: null, manager: 'kubectl-label' }]);
    indexer.endpoints.delete('shop/web');
    expect(facts({ kind: 'endpoints', uid: 'u2', manager: 'kubectl-edit' })).toEqual([
      { kind: 'endpoints', endpoints: null, uid: 'u2' },
    ]);
  });

  test('without facts still yield one Change, which carries the resourceVersions', () => {
    expect(composed({ kind: 'relist' })).toEqual([{ facts: [] }]);
  });
});

describe('a snapshot', () => {
  test('contains every object of the Service and nothing else (D7)', () => {
    indexer.setService(aService('web'));
    indexer.setPod(aPod('p', { app: 'web' }));
    indexer.setPod(aPod('q', { app: 'db' }));
    indexer.setPod(aPod('r', { app: 'web' }, { namespace: 'depot' }));
    indexer.endpoints.set('shop/web', someEndpoints('web'));
    indexer.setSlice(aSlice('s', 'web'));
    indexer.setSlice(aSlice('t', 'db'));
    const [part, ...others] = composed(snapshot, { kind: 'pod', name: 'gone' });
    expect(others).toEqual([]);
    expect(part?.snapshot).toEqual({ first: true, last: true, initial: false, resourceVersions });
    expect(part?.facts).toMatchObject([
      { kind: 'service' },
      { kind: 'topology' },
      { kind: 'pod', name: 'p' },
      { kind: 'endpoints' },
      { kind: 'slice', name: 's' },
    ]);
  });

  test('of a deleted Service has a first and a last part, so that the reconciler clears its state', () => {
    expect(composed({ kind: 'snapshot', initial: true })).toEqual([
      { facts: [], snapshot: { first: true, last: true, initial: true, resourceVersions } },
    ]);
  });

  test('without a selector has no Pods; with an empty selector it has all (D7)', () => {
    indexer.setPod(aPod('p', { app: 'web' }));
    indexer.setService(aService('web', { selector: null }));
    expect(facts(snapshot).map(({ kind }) => kind)).toEqual(['service', 'topology']);
    indexer.setService(aService('web', { selector: {} }));
    expect(facts(snapshot).map(({ kind }) => kind)).toEqual(['service', 'topology', 'pod']);
  });

  test.each([
    [factsPerChange, 1],
    [factsPerChange + 1, 2],
    [3 * factsPerChange, 3],
  ])('of %i facts has %i parts, one of them first and one last', (count, parts) => {
    indexer.setService(aService('web'));
    for (let i = 0; i < count - 2; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    const all = composed(snapshot);
    expect(all.map(({ snapshot: part }) => part?.first)).toEqual(all.map((_, i) => i === 0));
    expect(all.map(({ snapshot: part }) => part?.last)).toEqual(all.map((_, i) => i === parts - 1));
    expect(all.flatMap((part) => part.facts)).toHaveLength(count);
    expect(Math.max(...all.map((part) => part.facts.length))).toBeLessThanOrEqual(factsPerChange);
  });

  test('is initial if any of several reasons is', () => {
    expect(composed(snapshot, { kind: 'snapshot', initial: true }, snapshot)[0]?.snapshot?.initial).toBe(true);
  });
});
