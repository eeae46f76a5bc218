import { expect, test } from 'vitest';
import { jitterOf } from './backoff.ts';
import { initialControllerState } from './controller-state.ts';
import { retryAt } from './retry-at.ts';
import { key } from './testing/messages.ts';

const now = 1_000_000;
const backoff = { baseMs: 50, maxMs: 30_000 };

test('the first conflict is retried at once (B3)', () => {
  expect(retryAt({ state: initialControllerState, now }, 'conflict', backoff, 0.5)).toBe(now);
});

test('other delays grow, with jitter, up to the maximum (B3)', () => {
  for (const jitter of [0, 0.5, 1]) {
    const delays = Array.from({ length: 15 }, (_, failures) => {
      return retryAt({ state: { ...initialControllerState, failures }, now }, 'unavailable', backoff, jitter) - now;
    });
    expect(delays[0]).toBe((backoff.baseMs / 2) * (1 + jitter));
    expect(delays[14]).toBe((backoff.maxMs / 2) * (1 + jitter));
  }
});

test('jitter spreads plans evenly between 0 and 1, and is the same for the same plan', () => {
  const jitter = (number: number) => jitterOf({ key, controller: 'endpoints', plan: { epoch: 1, number } });
  const values = Array.from({ length: 1_000 }, (_, number) => jitter(number));
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  expect(values.filter((value) => value < 0.5).length / values.length).toBeCloseTo(0.5, 1);
  expect(jitter(7)).toBe(values[7]);
});
