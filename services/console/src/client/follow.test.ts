import { expect, test } from 'vitest';
import { AnswerError } from './answer-error.ts';
import type { HistoryEntry } from './console-client.ts';
import { followed } from './follow.ts';

const entry = (at: number): HistoryEntry => ({ kind: 'seen', at, news: [], causes: { first: [], more: 0 } });

test('each entry once, over lost connections and a console that starts anew', async () => {
  const asked: number[] = [];
  let lost = 0;
  const streams = [[entry(1), entry(3), entry(2)], undefined, undefined, [entry(3), entry(2), entry(4)]];
  const open = async function* (since: number) {
    asked.push(since);
    const entries = streams.shift();
    if (entries === undefined) throw new AnswerError('no console answers');
    yield* entries;
  };
  const options = { told: [entry(1)], since: 5, now: () => 70_000, onLost: () => lost++, pause: async () => {} };
  const told: number[] = [];
  for await (const { at } of followed(open, options)) {
    told.push(at);
    if (at === 4) break;
  }
  expect(told).toEqual([3, 2, 4]);
  expect(lost).toBe(1);
  expect(asked).toEqual([10_000, 10_000, 10_000, 10_000]);
});

test('what is no lost connection ends it', async () => {
  const open = async function* (): AsyncGenerator<HistoryEntry> {
    yield entry(1);
    throw new Error('server-sent event is too large');
  };
  const options = { told: [], since: 0, now: () => 0, onLost: () => {}, pause: async () => {} };
  const reading = (async () => {
    for await (const _ of followed(open, options));
  })();
  await expect(reading).rejects.toThrow('too large');
});
