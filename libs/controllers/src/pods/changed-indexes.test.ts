import { aPod, onNode } from '@sluice/model/testing';
import { expect, it } from 'vitest';
import { changedIndexes } from './changed-indexes.ts';

const [a, b, c] = [onNode(aPod(1)), onNode(aPod(2)), onNode(aPod(3))];
const newer = (pod: typeof a) => ({ ...pod });

it('Pods that are other objects than before have changed', () => {
  expect(changedIndexes([], [])).toEqual([]);
  expect(changedIndexes([a, b, c], [a, b, c])).toEqual([]);
  expect(changedIndexes([a, b, c], [newer(a), b, newer(c)])).toEqual([0, 2]);
});

it.each([
  ['was added', [a, b], [a, b, c]],
  ['was removed', [a, b, c], [a, b]],
  ['was replaced', [a, b], [a, c]],
  ['moved', [a, b], [b, a]],
])('they cannot be compared if a Pod %s', (_, before, now) => {
  expect(changedIndexes(before, now)).toBeUndefined();
});
