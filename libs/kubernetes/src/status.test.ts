import { describe, expect, it, test } from 'vitest';
import { ApiError, type ApiErrorKind } from './api-error.ts';
import { errorFromResponse, errorFromStatus, isTransient, retryDelayMs } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const status = (code: number, reason: string, message: string, details?: object) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message,
  reason,
  details,
  code,
});

describe('errorFromResponse', () => {
  it.each([
    [400, 'BadRequest', 'terminal'],
    [401, 'Unauthorized', 'terminal'],
    [403, 'Forbidden', 'terminal'],
    [408, 'Timeout', 'retry'],
    [409, 'AlreadyExists', 'conflict'],
    [409, 'Conflict', 'conflict'],
    [409, 'Custom', 'retry'],
    [410, 'Expired', 'gone'],
    [410, 'Custom', 'retry'],
    [422, 'Invalid', 'terminal'],
    [425, 'TooEarly', 'retry'],
    [429, 'TooManyRequests', 'retry'],
    [500, 'InternalError', 'retry'],
    [503, 'ServiceUnavailable', 'retry'],
    [504, 'Timeout', 'retry'],
  ])('%i %s means %s', (code, reason, kind) => {
    const error = errorFromResponse({ status: code, now }, status(code, reason, 'said so'));
    expect(error).toMatchObject({ message: 'said so', status: code, reason, kind, retryAfterMs: undefined });
  });

  it.each<[string, object | undefined, string]>([
    ['this object', { kind: 'endpointslices', name: 'web-x7k2p' }, 'notFound'],
    ['another object', { kind: 'endpointslices', name: 'web-db-x7k2p' }, 'conflict'],
    ['its namespace', { kind: 'namespaces', name: 'shop' }, 'conflict'],
    ['no object', undefined, 'conflict'],
  ])('NotFound that names %s means %s', (_, details, kind) => {
    const requested = { resource: 'endpointslices', name: 'web-x7k2p' };
    const body = status(404, 'NotFound', 'not found', details);
    expect(errorFromResponse({ status: 404, now }, body, requested).kind).toBe(kind);
    expect(errorFromResponse({ status: 404, now }, body).kind).toBe('conflict');
  });

  it.each([400, 401, 403, 404, 409, 410, 422])('%i without a Status is a proxy’s answer and passes', (code) => {
    const requested = { resource: 'endpointslices', name: 'web-x7k2p' };
    for (const body of [undefined, '<h1>default backend</h1>', { reason: 'NotFound', code }]) {
      const error = errorFromResponse({ status: code, now }, body, requested);
      expect(error).toMatchObject({ kind: 'retry', status: code });
    }
  });

  it('puts the message on one line', () => {
    const { message } = errorFromResponse({ status: 403, now }, status(403, 'Forbidden', 'a:\r\n  b  c\u2028d\n'));
    expect(message).toBe('a: b  c d');
  });

  it('knows a namespace that is going away from other refusals', () => {
    const details = { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] };
    const error = errorFromResponse({ status: 403, now }, status(403, 'Forbidden', 'being terminated', details));
    expect(error.kind).toBe('namespaceTerminating');
  });

  it.each([
    ['7', undefined, 7_000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', undefined, 9_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', undefined, 0],
    [undefined, 3, 3_000],
    ['2', 3, 2_000],
    ['86400', undefined, 120_000],
    ['Fri, 02 Jan 2026 00:00:00 GMT', undefined, 120_000],
    [undefined, 86_400, 120_000],
    ['soon', undefined, undefined],
  ])('reads Retry-After %s and retryAfterSeconds %s', (retryAfter, retryAfterSeconds, expected) => {
    const body = status(429, 'TooManyRequests', 'slow down', { retryAfterSeconds });
    expect(errorFromResponse({ status: 429, retryAfter, now }, body).retryAfterMs).toBe(expected);
  });

  it('does not quote what is not a Status', () => {
    for (const body of [undefined, '<h1>internal page</h1>', { secret: 'x' }]) {
      expect(errorFromResponse({ status: 502, now }, body)).toMatchObject({
        message: 'the server returned HTTP status 502 (Bad Gateway)',
        reason: 'HTTP502',
        kind: 'retry',
      });
    }
    expect(errorFromResponse({ status: 599, now }, undefined).message).toBe('the server returned HTTP status 599');
  });

  it('cuts a message of megabytes', () => {
    const { message } = errorFromResponse({ status: 422, now }, status(422, 'Invalid', 'x'.repeat(1_000_000)));
    expect(message).toHaveLength(4096);
  });
});

describe('errorFromStatus', () => {
  it('takes the code from the Status of an ERROR event', () => {
    const error = errorFromStatus(status(410, 'Expired', 'too old resource version: 1 (2)'), now);
    expect(error).toMatchObject({ kind: 'gone', status: 410, message: 'too old resource version: 1 (2)' });
  });

  it('takes anything else for a fault of the server', () => {
    expect(errorFromStatus('nonsense', now)).toMatchObject({ kind: 'retry', status: 500 });
  });
});

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
