import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { type CheckResult, CheckSampling } from './fresh-read.ts';

let clock: VirtualClock;
let sampling: CheckSampling;

beforeEach(() => {
  clock = new VirtualClock(0);
  sampling = new CheckSampling(clock);
});

function record(result: CheckResult, times = 1): void {
  for (let n = 0; n < times; n++) sampling.record(result);
}

/** How many of ten plans are checked. */
const checked = () => Array.from({ length: 10 }, () => sampling.isDue()).filter(Boolean).length;

test('each plan is checked until twenty checks in a row have confirmed their plans, then every tenth', () => {
  record('confirmed', 19);
  expect(checked()).toBe(10);
  record('confirmed');
  expect(checked()).toBe(1);
  expect(checked()).toBe(1);
});

test.each<[CheckResult, number]>([
  ['refuted', 10],
  ['unknown', 10],
  ['overtaken', 10],
])('after a check with result %s, %i of ten plans are checked', (result, expected) => {
  record('confirmed', 20);
  record(result);
  expect(checked()).toBe(expected);
});

test('confirmations count together while less than a minute passes between two', () => {
  for (let n = 0; n < 20; n++) {
    clock.skipTo(n * 59_999);
    record('confirmed');
  }
  expect(checked()).toBe(1);
  clock.skipTo(clock.now() + 60_000);
  expect(checked()).toBe(10);
  // They begin again.
  record('confirmed', 19);
  expect(checked()).toBe(10);
});
