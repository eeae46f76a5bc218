import type { Lease } from '@sluice/store';
import { expect, test } from 'vitest';
import { UnownedTimes } from './unowned-times.ts';

const lease = (scope: string, started = true): Lease => ({ scope, holder: 'a', fencingToken: 1, started });

test('a scope without a lease has no owner until another one works on it', () => {
  const times = new UnownedTimes();
  times.sample('writer', [lease('1'), lease('2')], 0);
  times.sample('writer', [lease('1')], 100);
  expect(times.unowned).toEqual(['writer 2']);
  times.sample('writer', [lease('1'), lease('2', false)], 300);
  times.sample('writer', [lease('1'), lease('2')], 450);
  expect(times.unowned).toEqual([]);
  expect(times.longest(0, 1_000)).toBe(350);
  expect(times.longest(101, 1_000)).toBe(0);
});

test('groups have scopes of the same names', () => {
  const times = new UnownedTimes();
  times.sample('writer', [lease('1')], 0);
  times.sample('reconciler', [lease('1')], 0);
  times.sample('writer', [lease('1')], 50);
  times.sample('reconciler', [], 50);
  expect(times.unowned).toEqual(['reconciler 1']);
  expect([...times.scopes]).toEqual(['writer 1', 'reconciler 1']);
});
