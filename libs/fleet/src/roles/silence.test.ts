import { beforeEach, expect, test } from 'vitest';
import { probeIntervalMs, Silence } from './silence.ts';

let silence: Silence;

beforeEach(() => {
  silence = new Silence();
});

/** Times at which the server is silent, of each 100 ms until `until`. */
function firstSilent(from: number, until: number): number | undefined {
  for (let at = from; at <= until; at += 100) if (silence.isSilent(at)) return at;
  return undefined;
}

test('a server that has not answered for a second is silent, from the first request that it did not answer', () => {
  expect(silence.isSilent(5_000), 'nothing was asked').toBe(false);
  silence.sent(0);
  silence.sent(500);
  silence.sent(900);
  expect(firstSilent(900, 5_000)).toBe(1_000);
});

test('any answer ends the silence, also a late one', () => {
  silence.sent(0);
  silence.sent(2_000);
  silence.answered(0, 2_500);
  expect(silence.isSilent(2_500)).toBe(false);
});

test('a server that answers slowly may take three times as long, ten seconds at most, until it answers quickly again', () => {
  silence.sent(0);
  silence.answered(0, 1_500);
  silence.sent(2_000);
  expect(firstSilent(2_000, 20_000)).toBe(6_500);
  silence.answered(2_000, 9_000);
  silence.sent(10_000);
  expect(firstSilent(10_000, 40_000)).toBe(20_000);
  for (let n = 0; n < 40; n++) silence.answered(0, 5);
  silence.sent(50_000);
  expect(firstSilent(50_000, 70_000)).toBe(51_000);
});

test('it is asked every half second', () => {
  expect(silence.isDue(0)).toBe(true);
  silence.sent(0);
  expect(silence.isDue(probeIntervalMs - 1)).toBe(false);
  expect(silence.isDue(probeIntervalMs)).toBe(true);
});

test('a process that has no one to take over from it forgets what it waits for', () => {
  silence.sent(0);
  silence.forget();
  expect(silence.isSilent(60_000)).toBe(false);
});
