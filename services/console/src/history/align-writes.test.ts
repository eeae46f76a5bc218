import { randomInteger, seededRandom } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { alignWrites } from './align-writes.ts';

const states = (...list: [content: string, since: number | undefined][]) =>
  list.map(([content, since]) => ({ content, since }));
const writes = (...list: [content: string, at: number][]) => list.map(([content, at]) => ({ content, at }));

describe('alignWrites', () => {
  test('of several events alike, the newest before the write counts', () => {
    const expected = states(['down', 10], ['up', 20], ['down', 30]);
    expect(alignWrites(expected, writes(['down', 40]))).toEqual([2]);
    expect(alignWrites(expected, writes(['down', 15], ['down', 40]))).toEqual([0, 2]);
  });

  test('writes that arrive late keep their events', () => {
    const expected = states(['down', 10], ['up', 20], ['down', 30]);
    expect(alignWrites(expected, writes(['down', 40], ['up', 50]))).toEqual([0, 1]);
    expect(alignWrites(expected, writes(['down', 40], ['up', 50], ['down', 60]))).toEqual([0, 1, 2]);
  });

  test('an event may arrive up to five seconds after its write', () => {
    expect(alignWrites(states(['down', 103]), writes(['down', 100]))).toEqual([0]);
    expect(alignWrites(states(['down', 5_100]), writes(['down', 100]))).toEqual([-1]);
    const expected = states(['down', 10], ['up', 20], ['down', 5_003]);
    expect(alignWrites(expected, writes(['down', 5_000]))).toEqual([2]);
  });

  test('a later event alike takes no write from its event', () => {
    expect(alignWrites(states(['down', 10], ['up', 16], ['down', 17]), writes(['down', 15]))).toEqual([0]);
  });

  test('a write again of the same state has no event', () => {
    expect(alignWrites(states(['up', 10], ['down', 90]), writes(['up', 20], ['up', 30], ['down', 95]))).toEqual([
      0, -1, 1,
    ]);
    expect(alignWrites(states(['up', undefined]), writes(['down', 30]))).toEqual([-1]);
  });

  test('finds the event of each write of a controller that skips none, however late the writes are', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seededRandom(seed);
      const expected = Array.from({ length: 8 }, (_, i) => ({ content: i % 2 ? 'up' : 'down', since: i * 100 }));
      const first = randomInteger(random, 0, 3);
      const delayMs = randomInteger(random, 2, 500);
      // The first events were of writes that are no longer compared.
      const written = expected.slice(first).map(({ content, since }) => ({ content, at: since + delayMs }));
      const events = expected.slice(first).map((_, i) => i);
      expect(alignWrites(expected.slice(first), written), `seed ${seed}`).toEqual(events);
    }
  });

  test('finds the newest event of each write of a controller that reads the last state only', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seededRandom(seed);
      const expected = Array.from({ length: 8 }, (_, i) => ({ content: i % 2 ? 'up' : 'down', since: i * 100 }));
      const written: { content: string; at: number }[] = [];
      const events: number[] = [];
      for (let i = randomInteger(random, 0, 2); i < expected.length; i += randomInteger(random, 1, 3)) {
        const state = expected[i];
        if (state === undefined || written.at(-1)?.content === state.content) continue;
        written.push({ content: state.content, at: state.since + randomInteger(random, 2, 99) });
        events.push(i);
      }
      expect(alignWrites(expected, written), `seed ${seed}`).toEqual(events);
    }
  });
});
