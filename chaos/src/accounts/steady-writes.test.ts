import { expect, test } from 'vitest';
import { checkSteady } from './steady-writes.ts';
import type { Write } from './write.ts';

const base: Write = {
  auditId: 'a',
  user: 'sluice',
  verb: 'update',
  resource: 'endpointslices',
  namespace: 'steady',
  name: 'web-1-abcde',
  precondition: '5',
  essence: 'e',
  code: 200,
  receivedAt: 1_000,
  answeredAt: 1_001,
  stored: '6',
  ready: ['rock-1', 'rock-2', 'other'],
};
const expected = {
  namespace: 'steady',
  rocks: new Map([['web-1', ['rock-1', 'rock-2']]]),
  settledAt: 500,
  wipes: [5_000],
  tidyingMs: 100,
};
const check = (change: Partial<Write>) => checkSteady([{ ...base, ...change }], expected).map(({ what }) => what);

test('updates with everything in them are right', () => {
  expect(check({})).toEqual([]);
  expect(check({ resource: 'endpoints', name: 'web-1' })).toEqual([]);
});

test('an endpoint that was never in doubt may not be left out, even after a wipe', () => {
  expect(check({ ready: ['rock-1'] })).toEqual(['wanted endpoint taken away']);
  expect(check({ resource: 'endpoints', name: 'web-1', ready: [] })).toEqual(['wanted endpoint taken away']);
  expect(check({ ready: [], receivedAt: 5_050 })).toEqual(['wanted endpoint taken away']);
});

test.each(['create', 'delete'] as const)('%s is needless, but for tidying up after a wipe', (verb) => {
  expect(check({ verb })).toEqual(['needless slice']);
  expect(check({ verb, receivedAt: 5_050 })).toEqual([]);
  expect(check({ verb, receivedAt: 5_101 })).toEqual(['needless slice']);
  expect(check({ verb, receivedAt: 5_050, resource: 'endpoints', name: 'web-1' })).toEqual(['needless slice']);
});

test('what was before, elsewhere or refused is no matter', () => {
  expect(check({ verb: 'create', receivedAt: 400 })).toEqual([]);
  expect(check({ verb: 'create', namespace: 'shop' })).toEqual([]);
  expect(check({ verb: 'delete', code: 409 })).toEqual([]);
});
