import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from './system.ts';

describe('system', () => {
  const hour = 3_600_000;
  const dateNow = Date.now;

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** The system clock is ahead of the real time by `step`, up to its resolution. */
  function expectTime(step: number): void {
    const before = dateNow();
    const now = systemClock.now();
    expect(now).toBeGreaterThan(before + step - 3);
    expect(now).toBeLessThan(dateNow() + step + 4);
  }

  describe('the system clock', () => {
    test('shows the time of the system', () => {
      expectTime(0);
    });

    test.each([hour, -hour])('follows when the time of the system is set by %d ms, and back', (step) => {
      vi.spyOn(Date, 'now').mockImplementation(() => dateNow() + step);
      expectTime(step);
      vi.restoreAllMocks();
      expectTime(0);
    });

    test('keeps its monotonic time when the time of the system is set', () => {
      const before = systemClock.monotonic();
      vi.spyOn(Date, 'now').mockImplementation(() => dateNow() - hour);
      systemClock.now();
      expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
      expect(systemClock.monotonic()).toBeLessThan(before + hour);
    });

    test('has a resolution below one millisecond', () => {
      const times = Array.from({ length: 1_000 }, () => systemClock.now());
      expect(times.some((time) => !Number.isInteger(time))).toBe(true);
    });
  });
});

/** V8 reports a flag that it does not know, and ignores it. `npm run bench:clusters` measures how much this one saves. */
test('V8 knows the flag that counts buffers as part of the heap', async () => {
  const file = join(import.meta.dirname, 'system.ts');
  const program = `const { countBuffersAsHeap } = await import(process.argv[1]); countBuffersAsHeap();`;
  const run = (text: string) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', text, file]);
  expect(await run(program)).toEqual({ stdout: '', stderr: '' });
  const { stderr } = await run(`(await import('node:v8')).setFlagsFromString('--no-such-flag');`);
  expect(stderr).toContain('unrecognized flag');
});
