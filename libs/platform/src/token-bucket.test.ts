import { expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

test('allows a burst of one second, then the given rate', () => {
  const bucket = new TokenBucket(10, 0);
  for (let i = 0; i < 10; i++) {
    expect(bucket.waitMs(0)).toBe(0);
    bucket.take(0);
  }
  expect(bucket.waitMs(0)).toBe(100);
  expect(bucket.waitMs(60)).toBe(40);
  expect(bucket.waitMs(100)).toBe(0);
});

test('idle time accumulates one second of tokens at most', () => {
  const bucket = new TokenBucket(2, 0);
  for (let i = 0; i < 2; i++) bucket.take(1_000_000);
  expect(bucket.waitMs(1_000_000)).toBe(500);
});
