import { describe, expect, test } from 'vitest';
import { ApiError, type ApiErrorKind, isApiError, isOutage, outageReason } from './api-error.ts';

const error = (status: number, reason: string, kind: ApiErrorKind = 'retry') =>
  new ApiError('the message', { kind, status, reason });

describe('an outage', () => {
  test.each([
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [0, 'ECONNREFUSED'],
    [0, 'Timeout'],
  ])('is status %i with reason %s', (status, reason) => {
    expect(isOutage(error(status, reason))).toBe(true);
  });

  test.each([
    [499, 'Odd'],
    [429, 'TooManyRequests'],
    [403, 'Forbidden'],
  ])('is not a response with status %i', (status, reason) => {
    expect(isOutage(error(status, reason))).toBe(false);
  });

  test.each(['WatchEndedEarly', 'StaleList', 'StaleWatch', 'WentBack', 'Aborted', 'ListTooLarge', 'WatchTooLarge'])(
    'is not %s: the server responded',
    (reason) => expect(isOutage(error(0, reason))).toBe(false),
  );
});

test.each([
  [0, 'ECONNREFUSED', 'connection refused'],
  [0, 'Odd', 'the message'],
  [503, 'ServiceUnavailable', 'HTTP status 503: the message'],
])('the reason of an outage with status %i and reason %s is "%s"', (status, reason, text) => {
  expect(outageReason(error(status, reason))).toBe(text);
});

test('only an ApiError is one', () => {
  expect(isApiError(error(500, 'InternalError'))).toBe(true);
  expect(isApiError(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toBe(false);
  expect(isApiError(new Error('x'))).toBe(false);
  expect(isApiError({ code: 'KUBERNETES_API_ERROR' })).toBe(false);
});
