import { expect, test } from 'vitest';
import type { HistoryEntry } from './console-client.ts';
import { followEntries } from './follow-entries.ts';
import { QueryError } from './query-error.ts';

const entry = (at: number): HistoryEntry => ({
  kind: 'observed',
  at,
  observations: [],
  causes: { first: [], more: 0 },
});

test('yields each entry once across lost connections', async () => {
  const requested: number[] = [];
  let lost = 0;
  const streams = [[entry(1), entry(3), entry(2)], undefined, undefined, [entry(3), entry(2), entry(4)]];
  const open = async function* (since: number) {
    requested.push(since);
    const entries = streams.shift();
    if (entries === undefined) throw new QueryError('connection refused');
    yield* entries;
  };
  const options = { known: [entry(1)], since: 5, now: () => 70_000, onLost: () => lost++, pause: async () => {} };
  const times: number[] = [];
  for await (const { at } of followEntries(open, options)) {
    times.push(at);
    if (at === 4) break;
  }
  expect(times).toEqual([3, 2, 4]);
  expect(lost).toBe(1);
  expect(requested).toEqual([10_000, 10_000, 10_000, 10_000]);
});

test('throws errors other than a lost connection', async () => {
  const open = async function* (): AsyncGenerator<HistoryEntry> {
    yield entry(1);
    throw new Error('server-sent event is too large');
  };
  const options = { known: [], since: 0, now: () => 0, onLost: () => {}, pause: async () => {} };
  const reading = (async () => {
    for await (const _ of followEntries(open, options));
  })();
  await expect(reading).rejects.toThrow('too large');
});
