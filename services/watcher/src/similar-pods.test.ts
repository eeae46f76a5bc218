import { expect, test } from 'vitest';
import { findElsewhere, findSimilarPods, resembles } from './similar-pods.ts';

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

test('another key with the same value is similar, unless the Pod has both keys or the value is a common one', () => {
  expect(findSimilarPods({ name: 'web' }, pods('web', 'web'))).toEqual({ label: 'app=web', pods: 2 });
  expect(findSimilarPods({ 'pod-template-hash': 'web' }, pods('web'))).toBeUndefined();
  for (const value of ['true', 'v1', '2', '']) {
    expect(findSimilarPods({ canary: value }, [{ labels: { enabled: value } }])).toBeUndefined();
  }
  // The other label of the selector has this value on purpose.
  expect(findSimilarPods({ app: 'web', tier: 'web' }, pods('web'))).toBeUndefined();
});

test('Pods of another namespace that match the whole selector', () => {
  const selector = { app: 'web', tier: 'front' };
  const match = { labels: { ...selector, zone: 'a' } };
  const others = [
    ['a', [match, { labels: { app: 'web' } }]],
    ['b', [match, match]],
    ['c', [{ labels: {} }]],
  ] as const;
  expect(findElsewhere(selector, others)).toEqual({ label: 'app=web,tier=front', pods: 2, namespace: 'b' });
  expect(findElsewhere(selector, [['c', [{ labels: { app: 'web' } }]]])).toBeUndefined();
  expect(findElsewhere({}, others)).toBeUndefined();
});

test('the search in other namespaces is limited', () => {
  const many = new Array(5_000).fill({ labels: {} });
  expect(
    findElsewhere({ app: 'web' }, [
      ['a', many],
      ['b', pods('web')],
    ]),
  ).toBeUndefined();
});

test('every label of the selector is compared, and the most frequent value wins; of equal ones the first by name', () => {
  const selector = { app: 'cart', tier: 'front' };
  const labelled = (...labels: Record<string, string>[]) =>
    findSimilarPods(
      selector,
      labels.map((of) => ({ labels: of })),
    );
  expect(labelled({ app: 'cat' }, { tier: 'frnt' }, { tier: 'frnt' })).toEqual({ label: 'tier=frnt', pods: 2 });
  expect(labelled({ tier: 'frnt' }, { app: 'cat' })).toEqual({ label: 'app=cat', pods: 1 });
  expect(labelled({ app: 'cat' }, { tier: 'frnt' })).toEqual({ label: 'app=cat', pods: 1 });
});

test.each([
  ['one letter more', 'cart', 'carts', true],
  ['two letters more', 'cart', 'carter', true],
  ['three letters more', 'payment', 'paymentapi', false],
  ['two letters less', 'payment', 'payme', true],
  ['two letters exchanged', 'crat', 'cart', true],
  ['two other letters', 'backend', 'bickund', true],
  ['four letters, two of them different', 'cart', 'cats', true],
  ['four letters, three of them different', 'cart', 'cubs', false],
  ['three letters, one of them different', 'web', 'wed', true],
  ['three letters, two of them exchanged', 'web', 'wbe', true],
  ['three letters, two of them different', 'web', 'wax', false],
  ['two letters, one of them different', 'ui', 'up', true],
  ['two letters, both different', 'ui', 'db', false],
  ['a letter in front', 'cart', 'xcart', true],
  ['the same', 'cart', 'cart', false],
  ['one letter in place of none', '', 'a', false],
])('%s: %s resembles %s: %s', (_, wanted, value, expected) => {
  expect(resembles({ app: wanted }, { app: value })).toBe(expected);
  expect(resembles({ app: value }, { app: wanted })).toBe(expected);
});

test('a label resembles a selector if one of its values does; a missing selector resembles nothing', () => {
  expect(resembles({ tier: 'front', app: 'crat' }, { app: 'cart', zone: 'a' })).toBe(true);
  expect(resembles({ tier: 'front' }, { app: 'front' })).toBe(true);
  expect(resembles({ tier: 'front' }, { app: 'back' })).toBe(false);
  expect(resembles({}, { app: 'cart' })).toBe(false);
  expect(resembles(null, { app: 'cart' })).toBe(false);
});

test('a limited number of Pods is compared', () => {
  expect(findSimilarPods({ app: 'crat' }, pods(...new Array(600).fill('cart')))).toEqual({
    label: 'app=cart',
    pods: 500,
  });
});
