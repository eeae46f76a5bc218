import { describe, expect, test } from 'vitest';
import { bucketsOf, bucketsWith, countsText, worstOf } from './problem-buckets.ts';

const minute = 60_000;
const counts = { critical: 0, warning: 0, info: 0 };

describe('buckets', () => {
  const noon = new Date(2026, 0, 15, 12).getTime();

  test.each([
    ['an hour', 60, 2],
    ['six hours', 360, 10],
    ['a week', 7 * 1_440, 6 * 60],
  ])('%s is divided into at most 48 of a round length', (_, minutes, step) => {
    const range = { since: noon - minutes * minute, until: noon };
    const { since, until, stepMs } = bucketsOf(range, 48);
    expect(stepMs).toBe(step * minute);
    expect(since).toBeLessThanOrEqual(range.since);
    expect(until).toBeGreaterThanOrEqual(range.until);
    expect((until - since) / stepMs).toBeLessThanOrEqual(48);
  });

  test('begin at round times and stay the same as time passes', () => {
    const of = (passed: number) => bucketsOf({ since: noon - 60 * minute + passed, until: noon + passed }, 24);
    expect(of(0)).toEqual({ since: noon - 60 * minute, until: noon, stepMs: 5 * minute });
    expect(of(minute)).toEqual({ since: noon - 60 * minute, until: noon + 5 * minute, stepMs: 5 * minute });
  });

  test('many years have some, too', () => {
    const { since, until, stepMs } = bucketsOf({ since: 0, until: noon }, 48);
    expect((until - since) / stepMs).toBeLessThanOrEqual(49);
  });
});

test('a bucket has the counts of its time, and how much of it was recorded', () => {
  const cells = [{ at: 10, critical: 1, warning: 0, info: 0 }];
  const covered = { recorded: { since: 8, until: 34 }, gaps: [{ from: 18, to: 30 }] };
  const buckets = bucketsWith(cells, { since: 0, until: 50, stepMs: 10 }, covered);
  expect(buckets.map(({ since, counts, recorded }) => [since, counts?.critical ?? 0, recorded])).toEqual([
    [0, 0, expect.closeTo(0.2)],
    [10, 1, expect.closeTo(0.8)],
    [20, 0, 0],
    [30, 0, expect.closeTo(0.4)],
    [40, 0, 0],
  ]);
});

test('counts are named by severity, and shown as the worst', () => {
  const mixed = { ...counts, warning: 2, info: 1 };
  expect(countsText(mixed)).toBe('3 problems: 2 warning, 1 info');
  expect(countsText({ ...counts, critical: 1 })).toBe('1 critical');
  expect(worstOf(mixed)).toBe('warning');
});
