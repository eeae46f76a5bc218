import { beforeEach, expect, test } from 'vitest';
import { LatencyBaseline } from './latency-baseline.ts';

let latency: LatencyBaseline;

beforeEach(() => {
  latency = new LatencyBaseline();
});

function add(count: number, latencyMs: number): void {
  for (let n = 0; n < count; n++) latency.add(latencyMs);
}

test('is not raised before there are eight samples', () => {
  expect(latency.isRaised).toBe(false);
  add(1, 10);
  add(6, 10_000);
  expect(latency.isRaised).toBe(false);
  add(1, 10_000);
  expect(latency.isRaised).toBe(true);
});

test('is raised above three times the lowest latency plus 50 ms', () => {
  add(8, 100);
  add(60, 340);
  expect(latency.isRaised).toBe(false);
  latency = new LatencyBaseline();
  add(8, 100);
  add(20, 420);
  expect(latency.isRaised).toBe(true);
});

test('one slow request does not raise it', () => {
  add(8, 10);
  add(1, 300);
  expect(latency.isRaised).toBe(false);
});

test('after a restart it needs eight samples again, and keeps the baseline', () => {
  add(8, 10);
  latency.restart();
  add(7, 500);
  expect(latency.isRaised).toBe(false);
  add(1, 500);
  expect(latency.isRaised).toBe(true);
  // The mean begins with the first sample after the restart.
  latency.restart();
  add(8, 70);
  expect(latency.isRaised).toBe(false);
});

test('a server that stays slower is accepted in the end', () => {
  add(8, 10);
  add(100, 200);
  expect(latency.isRaised).toBe(true);
  add(1_000, 200);
  expect(latency.isRaised).toBe(false);
});
