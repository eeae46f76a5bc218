import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from './system-clock.ts';

const hour = 3_600_000;
const dateNow = Date.now;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the system clock', () => {
  test('shows the time of the system', () => {
    const before = dateNow();
    const now = systemClock.now();
    expect(now).toBeGreaterThan(before - 3);
    expect(now).toBeLessThan(dateNow() + 4);
  });

  test.each([hour, -hour])('follows when the time of the system is set by %d ms, and back', (step) => {
    const ahead = () => systemClock.now() - dateNow();
    vi.spyOn(Date, 'now').mockImplementation(() => dateNow() + step);
    expect(Math.abs(ahead() - step)).toBeLessThan(1_000);
    vi.restoreAllMocks();
    expect(Math.abs(ahead())).toBeLessThan(1_000);
  });

  test('keeps its monotonic time when the time of the system is set', () => {
    const before = systemClock.monotonic();
    vi.spyOn(Date, 'now').mockImplementation(() => dateNow() - hour);
    systemClock.now();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
    expect(systemClock.monotonic() - before).toBeLessThan(hour);
  });

  test('has a resolution below one millisecond', () => {
    const times = Array.from({ length: 1_000 }, () => systemClock.now());
    expect(times.some((time) => !Number.isInteger(time))).toBe(true);
  });
});
