import { expect, test } from 'vitest';
import { checkSteadyWrites } from './check-steady-writes.ts';
import type { Write } from './write.ts';

const base: Write = {
  auditId: 'a',
  user: 'sluice',
  verb: 'update',
  resource: 'endpointslices',
  namespace: 'steady',
  name: 'web-1-abcde',
  precondition: '5',
  contentDigest: 'e',
  code: 200,
  receivedAt: 1_000,
  answeredAt: 1_001,
  stored: '6',
  ready: ['rock-1', 'rock-2', 'other'],
};
const expected = {
  namespace: 'steady',
  alwaysReady: new Map([['web-1', ['rock-1', 'rock-2']]]),
  pods: new Set(['rock-1', 'rock-2', 'other']),
  convergedAt: 500,
  wipes: [5_000],
  cleanUpMs: 100,
};
const check = (change: Partial<Write>) => checkSteadyWrites([{ ...base, ...change }], expected).map(({ what }) => what);

test('accepts updates with all endpoints', () => {
  expect(check({})).toEqual([]);
  expect(check({ resource: 'endpoints', name: 'web-1' })).toEqual([]);
});

test('reports a missing endpoint that is always ready, even after a wipe', () => {
  expect(check({ ready: ['rock-1'] })).toEqual(['endpoint wrongly removed']);
  expect(check({ resource: 'endpoints', name: 'web-1', ready: [] })).toEqual(['endpoint wrongly removed']);
  expect(check({ ready: [], receivedAt: 5_050 })).toEqual(['endpoint wrongly removed']);
});

test('reports an endpoint of another cluster', () => {
  expect(check({ ready: ['rock-1', 'rock-2', 'west-other'] })).toEqual(['crossed clusters']);
});

test.each(['create', 'delete'] as const)('reports a needless %s, except for the clean-up after a wipe', (verb) => {
  expect(check({ verb })).toEqual(['needless slice write']);
  expect(check({ verb, receivedAt: 5_050 })).toEqual([]);
  expect(check({ verb, receivedAt: 5_101 })).toEqual(['needless slice write']);
  expect(check({ verb, receivedAt: 5_050, resource: 'endpoints', name: 'web-1' })).toEqual(['needless slice write']);
});

test('ignores earlier, unrelated and rejected writes', () => {
  expect(check({ verb: 'create', receivedAt: 400 })).toEqual([]);
  expect(check({ verb: 'create', namespace: 'shop' })).toEqual([]);
  expect(check({ verb: 'delete', code: 409 })).toEqual([]);
});
