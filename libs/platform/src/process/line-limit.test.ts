import { expect, test } from 'vitest';
import { LineLimit } from './line-limit.ts';

const about = (cluster: string | undefined, message = 'object ignored') => ({ message, cluster });
const admitted = (limit: LineLimit, count: number, event = about('west'), now = 0) =>
  Array.from({ length: count }, () => limit.admits(event, now)).filter(Boolean).length;

test('an event is logged a hundred times a minute, and the rest is counted', () => {
  const limit = new LineLimit();
  expect(admitted(limit, 1_000)).toBe(100);
  expect(limit.ended(59_999)).toEqual([]);
  expect(limit.ended(60_000)).toEqual([{ message: 'object ignored', cluster: 'west', suppressed: 900 }]);
  expect(limit.ended(60_000)).toEqual([]);
  expect(admitted(limit, 100, about('west'), 60_000)).toBe(100);
  expect(limit.ended(120_000)).toEqual([]);
});

test('other events and other clusters have limits of their own', () => {
  const limit = new LineLimit();
  admitted(limit, 1_000);
  expect(admitted(limit, 1, about('east'))).toBe(1);
  expect(admitted(limit, 1, about(undefined))).toBe(1);
  expect(admitted(limit, 1, about('west', 'watch failed'))).toBe(1);
});

test('however many clusters are named, memory is bounded: beyond that they share a limit', () => {
  const limit = new LineLimit();
  for (let n = 0; n < 10_000; n++) limit.admits(about(`c${n}`), 0);
  const shown = Array.from({ length: 10_000 }, (_, n) => limit.admits(about(`d${n}`), 0)).filter(Boolean);
  expect(shown).toHaveLength(100);
  expect(limit.ended(60_000)).toEqual([{ message: 'object ignored', cluster: undefined, suppressed: 9_900 }]);
});
