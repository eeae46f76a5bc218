import { expect, test } from 'vitest';
import { localTime, withLocalTimes } from './local-time.ts';

const now = new Date(2026, 2, 1, 14, 30, 0, 0).getTime();
const today = (hours: number, minutes: number, seconds = 0) => new Date(2026, 2, 1, hours, minutes, seconds).getTime();

test('localTime shows the date only on other days', () => {
  expect(localTime(today(3, 2, 1) + 7, now)).toBe('03:02:01.007');
  expect(localTime(new Date(2026, 1, 28, 23, 59, 59).getTime(), now)).toBe('2026-02-28 23:59:59.000');
});

test('withLocalTimes leaves one time zone', () => {
  const text = `Ready is True since ${new Date(today(3, 2, 1)).toISOString()}, not 12:00`;
  expect(withLocalTimes(text, now)).toBe('Ready is True since 03:02:01, not 12:00');
});
