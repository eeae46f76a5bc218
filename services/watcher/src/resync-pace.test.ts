import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { ResyncPace } from './resync-pace.ts';

const mebibyte = 1024 * 1024;
let clock: VirtualClock;
let pace: ResyncPace;

beforeEach(() => {
  clock = new VirtualClock(0);
  pace = new ResyncPace(clock);
});

const minutes = (count: number) => clock.step(clock.now() + count * 60_000);

test('a single resync is not slowed down', () => {
  expect(pace.bytesPerSecond).toBeUndefined();
  pace.resyncRequested();
  expect(pace.bytesPerSecond).toBeUndefined();
});

test('each further one within half an hour halves the rate, down to 128 KiB/s', () => {
  pace.resyncRequested();
  const rates = Array.from({ length: 9 }, () => {
    minutes(5);
    pace.resyncRequested();
    return (pace.bytesPerSecond ?? 0) / mebibyte;
  });
  expect(rates).toEqual([8, 4, 2, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 8, 1 / 8]);
});

test('half an hour after the last resync the limit ends', () => {
  pace.resyncRequested();
  pace.resyncRequested();
  minutes(30);
  expect(pace.bytesPerSecond).toBe(8 * mebibyte);
  minutes(1);
  expect(pace.bytesPerSecond).toBeUndefined();
  pace.resyncRequested();
  expect(pace.bytesPerSecond).toBeUndefined();
});
