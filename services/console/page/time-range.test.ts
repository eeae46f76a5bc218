import { describe, expect, test } from 'vitest';
import { rangeOfLength, within, zoomed } from './time-range.ts';

describe('a range of a length', () => {
  test('ends now', () => {
    expect(rangeOfLength(300_000, undefined, 1_000_000)).toEqual({ since: 700_000, until: 1_000_000 });
  });

  test('is around the time shown, and not later than now', () => {
    expect(rangeOfLength(300_000, 500_000, 1_000_000)).toEqual({ since: 350_000, until: 650_000 });
    expect(rangeOfLength(300_000, 990_000, 1_000_000)).toEqual({ since: 700_000, until: 1_000_000 });
  });
});

describe('zoom', () => {
  test('keeps the place of the time shown', () => {
    expect(zoomed({ since: 0, until: 100_000 }, 0.5, 80_000)).toEqual({ since: 40_000, until: 90_000 });
    expect(zoomed({ since: 40_000, until: 90_000 }, 2, 80_000)).toEqual({ since: 0, until: 100_000 });
  });

  test('goes to the end if the time shown is after it', () => {
    expect(zoomed({ since: 0, until: 100_000 }, 0.5, 900_000)).toEqual({ since: 50_000, until: 100_000 });
  });

  test('ends at a second', () => {
    expect(zoomed({ since: 0, until: 1_200 }, 0.5, 0)).toEqual({ since: 0, until: 1_000 });
  });
});

test('a range stays within the history, and is none if it is all of it or too short', () => {
  const all = { since: 10_000, until: 60_000 };
  expect(within(all, { since: 0, until: 20_000 })).toEqual({ since: 10_000, until: 20_000 });
  expect(within(all, { since: 0, until: 90_000 })).toBeUndefined();
  expect(within(all, { since: 20_000, until: 20_100 })).toBeUndefined();
});
