import { expect, test } from 'vitest';
import { findSimilarPods } from './similar-pods.ts';

const pods = (...values: string[]) => values.map((app) => ({ labels: { app, 'pod-template-hash': '5d8' } }));

test.each([
  ['crat', ['cart', 'cart', 'cart', 'web'], { label: 'app=cart', pods: 3 }],
  ['cart', ['carts', 'cat', 'cat'], { label: 'app=cat', pods: 2 }],
  ['cart', ['web', 'payments'], undefined],
  ['a', ['b'], undefined],
  ['cart', [], undefined],
])('app=%s beside Pods with %j', (app, values, similar) => {
  expect(findSimilarPods({ app }, pods(...values))).toEqual(similar);
});

test('Pods without the label are not similar', () => {
  expect(findSimilarPods({ tier: 'front' }, pods('front'))).toBeUndefined();
});
