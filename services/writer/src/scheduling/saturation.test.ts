import { beforeEach, expect, test } from 'vitest';
import { Saturation } from './saturation.ts';

let saturation: Saturation;
let now: number;

beforeEach(() => {
  saturation = new Saturation();
  now = 0;
});

/** Requests that take `latencyMs` and wait for `waitMs` before. Returns the excess after each. */
function requests(
  count: number,
  { latencyMs, waitMs = 0, everyMs = 5 }: { latencyMs: number; waitMs?: number; everyMs?: number },
) {
  return Array.from({ length: count }, () => {
    now += everyMs;
    saturation.add(latencyMs, waitMs + latencyMs, now);
    return saturation.excessMs(now);
  });
}

test('is zero without requests and while they are fast', () => {
  expect(saturation.excessMs(now)).toBe(0);
  expect(Math.max(...requests(1_000, { latencyMs: 15 }))).toBe(0);
});

test('follows many slow requests, and does not get used to them within seconds', () => {
  requests(20, { latencyMs: 5 });
  const excess = requests(2_000, { latencyMs: 300 });
  expect(Math.min(...excess.slice(100))).toBeGreaterThan(100);
});

test('counts the wait for a slot', () => {
  requests(20, { latencyMs: 5 });
  expect(requests(100, { latencyMs: 20, waitMs: 300 }).at(-1)).toBeGreaterThan(100);
});

test('ignores a few slow requests, and slow ones that are far apart', () => {
  requests(20, { latencyMs: 5 });
  expect(Math.max(...requests(2, { latencyMs: 500 }))).toBe(0);
  expect(Math.max(...requests(100, { latencyMs: 500, everyMs: 1_000 }))).toBe(0);
});

test('ends without requests, and soon after requests are fast again', () => {
  requests(20, { latencyMs: 5 });
  requests(200, { latencyMs: 500 });
  expect(saturation.excessMs(now + 5_000)).toBe(0);
  expect(requests(60, { latencyMs: 5 }).at(-1)).toBe(0);
});

test('is zero for a server that is far away, however many requests it gets', () => {
  expect(Math.max(...requests(5_000, { latencyMs: 200 }))).toBe(0);
});

test('is zero for a server that has been slower for some minutes', () => {
  requests(20, { latencyMs: 5 });
  requests(40_000, { latencyMs: 150 });
  expect(saturation.excessMs(now)).toBe(0);
});
