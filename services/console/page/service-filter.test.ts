import { expect, test } from 'vitest';
import { everything, filterOf, isNarrow, searchOf } from './service-filter.ts';

test('a filter is the same after it was in an address', () => {
  const filter = { ...everything, q: 'a&b=c /ü', status: 'degraded', sort: 'latency' };
  expect(filterOf(searchOf(filter))).toEqual(filter);
  expect(searchOf(everything)).toBe('');
  expect(filterOf('')).toEqual(everything);
  expect(filterOf('?status=ok&other=1')).toEqual({ ...everything, status: 'ok' });
});

test('an order leaves nothing out', () => {
  expect(isNarrow({ ...everything, sort: 'latency' })).toBe(false);
  expect(isNarrow({ ...everything, q: 'a' })).toBe(true);
});
