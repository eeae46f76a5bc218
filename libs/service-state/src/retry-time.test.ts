import { expect, test } from 'vitest';
import { initialControllerState } from './controller-state.ts';
import { retryAt } from './retry-time.ts';

const now = 1_000_000;
const backoff = { baseMs: 50, maxMs: 30_000 };

test('a first conflict is decided anew at once (B3)', () => {
  expect(retryAt({ state: initialControllerState, now }, 'conflict', backoff, 0.5)).toBe(now);
});

test('other delays grow, with jitter, up to the most (B3)', () => {
  const grown = Array.from({ length: 15 }, (_, failures) => {
    return retryAt({ state: { ...initialControllerState, failures }, now }, 'unavailable', backoff, 0.5) - now;
  });
  expect(grown[0]).toBeGreaterThanOrEqual(backoff.baseMs / 2);
  expect(grown[14]).toBeGreaterThanOrEqual(backoff.maxMs / 2);
  for (const delay of grown) expect(delay).toBeLessThanOrEqual(backoff.maxMs);
});
