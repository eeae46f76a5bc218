import { describe, expect, test } from 'vitest';
import { errorFromResponse } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const rejected = (head: { status: number; retryAfter?: string }, details?: object, reason = 'Test') =>
  errorFromResponse({ ...head, now }, { kind: 'Status', reason, message: 'no', details });

describe('the time after which a request may be repeated', () => {
  test.each([
    ['12', 12_000],
    [' 7 ', 7_000],
    ['0', 0],
    ['7 s', undefined],
    ['-7', undefined],
    ['', undefined],
  ])('is %j in the header: %s', (retryAfter, expected) => {
    const { retryAfterMs } = rejected({ status: 429, retryAfter });
    // A date of the last century is over.
    expect(retryAfterMs || undefined).toBe(expected || undefined);
  });

  test.each<[unknown, number | undefined]>([
    [3, 3_000],
    [0, undefined],
    [-1, undefined],
    ['3', undefined],
  ])('is %j in the details: %s', (retryAfterSeconds, expected) => {
    expect(rejected({ status: 429 }, { retryAfterSeconds }).retryAfterMs).toBe(expected);
  });
});

test.each(['Expired', 'Gone'])('a watch has expired if the reason is %s, whatever the status', (reason) => {
  expect(rejected({ status: 400 }, undefined, reason).kind).toBe('gone');
});

test('only a refusal for that cause says that the namespace is terminating', () => {
  const details = { causes: [{ reason: 'Other' }, { reason: 'NamespaceTerminating' }] };
  expect(rejected({ status: 403 }, details).kind).toBe('namespaceTerminating');
  expect(rejected({ status: 400 }, details).kind).toBe('terminal');
  expect(rejected({ status: 403 }, { causes: [{ reason: 'Other' }] }).kind).toBe('terminal');
  expect(rejected({ status: 403 }, { causes: 'odd' }).kind).toBe('terminal');
});

test('a body that is no Status is not quoted', () => {
  const error = errorFromResponse({ status: 500, now }, { kind: 'Pod', reason: 'Evicted', message: 'secret' });
  expect(error).toMatchObject({ reason: 'HTTP500', message: expect.not.stringContaining('secret') });
});
