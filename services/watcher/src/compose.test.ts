import type { Fact } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { compose, factsPerChange } from './compose.ts';
import { Inventory } from './inventory.ts';
import { addMark, type Mark, noMarks } from './marks.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';

const versions = { endpoints: '7', endpointslices: '9' };
let inventory: Inventory;

beforeEach(() => {
  inventory = new Inventory();
});

function composed(...given: Mark[]) {
  const marks = noMarks();
  for (const mark of given) addMark(marks, mark, undefined);
  return compose(inventory, 'shop', 'web', marks, versions);
}

function facts(...given: Mark[]): readonly Fact[] {
  return composed(...given).flatMap((part) => part.facts);
}

const snapshot: Mark = { on: 'snapshot', start: false };

describe('changes', () => {
  test('are told as they are when they are sent, once, however often they were marked', () => {
    inventory.setService(aService('web'));
    inventory.setNode(aNode('n1', 'a'));
    inventory.setPod(aPod('p', { app: 'web' }, { ready: false }));
    const marks: Mark[] = [
      { on: 'pod', name: 'p' },
      { on: 'pod', name: 'p' },
    ];
    inventory.setPod(aPod('p', { app: 'web' }));
    expect(facts(...marks)).toEqual([
      { kind: 'pod', name: 'p', pod: expect.objectContaining({ ready: true }), node: { zone: 'a' } },
    ]);
  });

  test.each<[string, () => void]>([
    ['gone', () => {}],
    ['not selected any more', () => inventory.setPod(aPod('p', { app: 'db' }))],
  ])('a Pod that is %s is told as absent', (_, arrange) => {
    inventory.setService(aService('web'));
    arrange();
    expect(facts({ on: 'pod', name: 'p' })).toEqual([{ kind: 'pod', name: 'p', pod: null, node: null }]);
  });

  test('a Pod on a Node that is not known has no place', () => {
    inventory.setService(aService('web'));
    inventory.setPod(aPod('p', { app: 'web' }));
    expect(facts({ on: 'pod', name: 'p' })).toMatchObject([{ name: 'p', node: null }]);
  });

  test('a Service is told with the zone ratios if it asks for hints, and with their absence if not', () => {
    inventory.setNode(aNode('n1', 'a'));
    inventory.setService(aService('web', { annotations: asksForHints }));
    expect(facts({ on: 'service' })).toMatchObject([{ kind: 'service' }, { kind: 'topology', topology: {} }]);
    inventory.setService(aService('web'));
    expect(facts({ on: 'service' })).toMatchObject([{ kind: 'service' }, { kind: 'topology', topology: null }]);
    inventory.deleteService('shop', 'web');
    expect(facts({ on: 'service' })).toEqual([{ kind: 'service', service: null }]);
    expect(facts({ on: 'topology' })).toEqual([]);
  });

  test('of slices and Endpoints carry the uid of what is there, or else of what went', () => {
    inventory.endpoints.set('shop/web', someEndpoints('web', 'u2'));
    inventory.setSlice(aSlice('s1', 'web', { uid: 'v2' }), 'shop/web');
    const marks: Mark[] = [
      { on: 'endpoints', uid: 'u1' },
      { on: 'slice', name: 's1', uid: 'v1', relabelled: false },
      { on: 'slice', name: 's2', uid: 'w1', relabelled: false },
      { on: 'slice', name: 's3', uid: 'x1', relabelled: true },
    ];
    expect(facts(...marks)).toMatchObject([
      { kind: 'endpoints', endpoints: {}, uid: 'u2' },
      { kind: 'slice', name: 's1', slice: {}, uid: 'v2' },
      { kind: 'slice', name: 's2', slice: null, uid: 'w1' },
      { kind: 'slice', name: 's3', slice: null, uid: 'x1', relabelled: true },
    ]);
    inventory.endpoints.delete('shop/web');
    expect(facts({ on: 'endpoints', uid: 'u2' })).toEqual([{ kind: 'endpoints', endpoints: null, uid: 'u2' }]);
  });

  test('that turned out to be none still say how far the watcher has come', () => {
    expect(composed({ on: 'list' })).toEqual([{ facts: [] }]);
  });
});

describe('a snapshot', () => {
  test('tells all that concerns the Service, and nothing else (D7)', () => {
    inventory.setService(aService('web'));
    inventory.setPod(aPod('p', { app: 'web' }));
    inventory.setPod(aPod('q', { app: 'db' }));
    inventory.setPod(aPod('r', { app: 'web' }, { namespace: 'depot' }));
    inventory.endpoints.set('shop/web', someEndpoints('web'));
    inventory.setSlice(aSlice('s', 'web'), 'shop/web');
    inventory.setSlice(aSlice('t', 'db'), 'shop/db');
    const [part, ...others] = composed(snapshot, { on: 'pod', name: 'gone' });
    expect(others).toEqual([]);
    expect(part?.snapshot).toEqual({ first: true, last: true, initial: false, resourceVersions: versions });
    expect(part?.facts).toMatchObject([
      { kind: 'service' },
      { kind: 'topology' },
      { kind: 'pod', name: 'p' },
      { kind: 'endpoints' },
      { kind: 'slice', name: 's' },
    ]);
  });

  test('of nothing has its brackets, so that its end clears what was known', () => {
    expect(composed({ on: 'snapshot', start: true })).toEqual([
      { facts: [], snapshot: { first: true, last: true, initial: true, resourceVersions: versions } },
    ]);
  });

  test('of a Service without selector has no Pods, that of an empty one has all (D7)', () => {
    inventory.setPod(aPod('p', { app: 'web' }));
    inventory.setService(aService('web', { selector: null }));
    expect(facts(snapshot).map(({ kind }) => kind)).toEqual(['service', 'topology']);
    inventory.setService(aService('web', { selector: {} }));
    expect(facts(snapshot).map(({ kind }) => kind)).toEqual(['service', 'topology', 'pod']);
  });

  test.each([
    [factsPerChange, 1],
    [factsPerChange + 1, 2],
    [3 * factsPerChange, 3],
  ])('of %i facts comes in %i parts with one beginning and one end', (count, parts) => {
    inventory.setService(aService('web'));
    for (let i = 0; i < count - 2; i++) inventory.setPod(aPod(`p${i}`, { app: 'web' }));
    const all = composed(snapshot);
    expect(all.map(({ snapshot: part }) => part?.first)).toEqual(all.map((_, i) => i === 0));
    expect(all.map(({ snapshot: part }) => part?.last)).toEqual(all.map((_, i) => i === parts - 1));
    expect(all.flatMap((part) => part.facts)).toHaveLength(count);
    expect(Math.max(...all.map((part) => part.facts.length))).toBeLessThanOrEqual(factsPerChange);
  });

  test('is the start if any of several marks says so', () => {
    expect(composed(snapshot, { on: 'snapshot', start: true }, snapshot)[0]?.snapshot?.initial).toBe(true);
  });
});
