import type { Mutation } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { aPlan, create, remove, someEndpoints, update } from '../testing/plans.ts';
import { hasPreconditions } from './has-preconditions.ts';

const deletion = (given: object): Mutation => ({
  ...{ verb: 'delete', resource: 'endpointslices', name: 'web-bbbbb', ...given },
});
const unconditional: Mutation = { verb: 'update', resource: 'endpoints', object: someEndpoints };

test.each<[string, boolean, readonly Mutation[]]>([
  ['no write', true, []],
  ['an update with a resourceVersion', true, [update('a')]],
  ['an update without one', false, [unconditional]],
  ['a create', false, [create('a')]],
  ['a deletion with a UID', true, [deletion({ uid: 'u' })]],
  ['a deletion with a resourceVersion', true, [deletion({ resourceVersion: '7' })]],
  ['a deletion by name', false, [deletion({})]],
  ['one unsafe write among safe ones', false, [update('a'), create('b'), remove('c')]],
])('a plan with %s can be repeated safely: %s', (_, expected, mutations) => {
  expect(hasPreconditions(aPlan([mutations]))).toBe(expected);
  expect(hasPreconditions(aPlan([[update('z')], mutations]))).toBe(expected);
});
