import type { EndpointSlice, Mutation } from '@sluice/model';
import { aService, aSlice } from '@sluice/model/testing';
import { expect, it } from 'vitest';
import { compactSlices } from './compact-slices.ts';

const nameOf = (mutation: Mutation) => (mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name);

function sliceOf(name: string, count: number, given: Partial<EndpointSlice> = {}): EndpointSlice {
  const endpoints = Array.from({ length: count }, (_, i) => ({ addresses: [`10.0.0.${i}`], hostname: name }));
  return aSlice(name, { endpoints, ...given });
}

/** The groups of mutations as text, with at most 100 endpoints per slice. */
function compact(slices: readonly EndpointSlice[], maxWrites = 100) {
  const { groups, ...counts } = compactSlices({ service: aService(), slices, maxEndpointsPerSlice: 100, maxWrites });
  return { groups: groups.map(({ mutations }) => mutations.map((one) => `${one.verb} ${nameOf(one)}`)), ...counts };
}

const nothing = { groups: [], writes: 0, removed: 0, moved: 0 };

it.each<[string, readonly EndpointSlice[]]>([
  ['there is none', []],
  ['there is one', [sliceOf('a', 0)]],
  ['all are needed', [sliceOf('a', 60), sliceOf('b', 41)]],
  ['their ports differ', [sliceOf('a', 1), sliceOf('b', 1, { ports: [] })]],
  ['their address types differ', [sliceOf('a', 1), sliceOf('b', 1, { addressType: 'IPv6' })]],
])('slices stay if %s', (_, slices) => {
  expect(compact(slices)).toEqual(nothing);
});

it('two slices that fill one exactly become one', () => {
  const counts = { writes: 2, removed: 1, moved: 40 };
  expect(compact([sliceOf('a', 60), sliceOf('b', 40)])).toEqual({ groups: [['update a', 'delete b']], ...counts });
});

it('empty slices are deleted without an update; one stays if all are empty', () => {
  const deleted = { groups: [['delete b']], writes: 1, removed: 1, moved: 0 };
  expect(compact([sliceOf('a', 5), sliceOf('b', 0)])).toEqual(deleted);
  expect(compact([sliceOf('a', 0), sliceOf('b', 0)])).toEqual(deleted);
});

it('missing endpoints count as none', () => {
  const before = [sliceOf('a', 5), aSlice('b', { endpoints: null })];
  expect(compact(before)).toMatchObject({ groups: [['delete b']], moved: 0 });
});

it.each([
  [0, [], 0],
  [1, [], 0],
  [2, [['update b', 'delete e']], 10],
  [3, [['update b', 'delete e', 'delete d']], 30],
  [4, [['update b', 'delete e', 'delete d', 'delete c']], 60],
  [9, [['update b', 'delete e', 'delete d', 'delete c']], 60],
])('with at most %i writes, as many slices as possible are removed, the emptiest first', (maxWrites, groups, moved) => {
  const slices = [sliceOf('a', 60), sliceOf('b', 30), sliceOf('c', 30), sliceOf('d', 20), sliceOf('e', 10)];
  expect(compact(slices, maxWrites)).toMatchObject({ groups, moved });
});

it('limited writes go to the ports from which most slices can be removed', () => {
  const others = { ports: [] };
  const few = [sliceOf('a', 5), sliceOf('b', 4)];
  const many = [sliceOf('c', 3, others), sliceOf('d', 2, others), sliceOf('e', 1, others)];
  const groups = [
    ['update c', 'delete e', 'delete d'],
    ['update a', 'delete b'],
  ];
  expect(compact([...few, ...many])).toMatchObject({ groups, removed: 3, writes: 5, moved: 7 });
  expect(compact([...few, ...many], 4).groups).toEqual(groups.slice(0, 1));
});
