import { seededRandom } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { initialState } from './controller-state.ts';
import { retryTime } from './retry-time.ts';

const now = 1_000_000;
const backoff = { baseMs: 50, maxMs: 30_000 };

test('a first conflict is decided anew at once (B3)', () => {
  expect(retryTime({ state: initialState, now }, 'conflict', backoff, seededRandom(1))).toBe(now);
});

test('other delays grow, with jitter, up to the most (B3)', () => {
  const grown = Array.from({ length: 15 }, (_, failures) => {
    return retryTime({ state: { ...initialState, failures }, now }, 'unavailable', backoff, seededRandom(1)) - now;
  });
  expect(grown[0]).toBeGreaterThanOrEqual(backoff.baseMs / 2);
  expect(grown[14]).toBeGreaterThanOrEqual(backoff.maxMs / 2);
  for (const delay of grown) expect(delay).toBeLessThanOrEqual(backoff.maxMs);
});
