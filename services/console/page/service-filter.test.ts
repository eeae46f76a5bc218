import { expect, test } from 'vitest';
import { filterOf, isRestrictive, noFilter, searchOf } from './service-filter.ts';

test('writes a filter to a URL and reads it back', () => {
  const filter = { ...noFilter, q: 'a&b=c /ü', status: 'degraded', sort: 'latency' };
  expect(filterOf(searchOf(filter))).toEqual(filter);
  expect(searchOf(noFilter)).toBe('');
  expect(filterOf('')).toEqual(noFilter);
  expect(filterOf('?status=ok&other=1')).toEqual({ ...noFilter, status: 'ok' });
});

test('an order does not restrict', () => {
  expect(isRestrictive({ ...noFilter, sort: 'latency' })).toBe(false);
  expect(isRestrictive({ ...noFilter, q: 'a' })).toBe(true);
});
