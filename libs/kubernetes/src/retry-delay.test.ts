import { expect, test } from 'vitest';
import { ApiError, type ApiErrorKind } from './api-error.ts';
import { isTransient, retryDelayMs } from './retry-delay.ts';

const error = (kind: ApiErrorKind, retryAfterMs?: number) =>
  new ApiError('failed', { kind, status: 0, reason: 'Test', retryAfterMs });
/** The longest delay. */
const last = { next: () => 1 };

test.each<[ApiErrorKind, boolean]>([
  ['retry', true],
  ['gone', true],
  ['conflict', false],
  ['namespaceTerminating', false],
  ['terminal', false],
])('%s passes without an operator: %s', (kind, expected) => {
  expect(isTransient(error(kind))).toBe(expected);
});

test.each<[ApiErrorKind, readonly number[]]>([
  ['retry', [400, 800, 1_600, 30_000]],
  ['terminal', [5_000, 10_000, 20_000, 120_000]],
])('the delay after %s doubles with each failure up to a limit', (kind, expected) => {
  expect([0, 1, 2, 20].map((failures) => retryDelayMs(error(kind), failures, last))).toEqual(expected);
});

test('the delay is at least what the server asks for', () => {
  expect(retryDelayMs(error('retry', 7_000), 0, last)).toBe(7_000);
  expect(retryDelayMs(error('retry', 7_000), 10, last)).toBe(30_000);
});
