import { expect, test } from 'vitest';
import { type HistoryEntry, QueryError } from './console-client.ts';
import { followEntries } from './follow-entries.ts';

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

/** Follows streams, each of which is lost after its entries, until this entry. */
async function follow(streams: readonly (readonly HistoryEntry[])[], last: number, given: object = {}) {
  const requested: number[] = [];
  const open = async function* (since: number) {
    const entries = streams[requested.length] ?? [];
    requested.push(since);
    yield* entries;
  };
  let [lost, time] = [0, 70_000];
  const pause = async () => {
    time += 1_000;
  };
  const options = { known: [], since: 0, now: () => time, onLost: () => lost++, pause, ...given };
  const times: number[] = [];
  for await (const { at } of followEntries(open, options)) {
    times.push(at);
    if (at === last) break;
  }
  return { times, requested, lost };
}

test('asks for the last minute, or for the start of the period if that is later', async () => {
  const streams = [[entry(1)], [], [entry(2)]];
  expect((await follow(streams, 2)).requested).toEqual([10_000, 10_000, 11_000]);
  expect((await follow(streams, 2, { since: 10_500 })).requested).toEqual([10_500, 10_500, 11_000]);
});

test('never asks for more than before, although the clock was set back', async () => {
  const times = [70_000, 60_000, 80_000];
  const { requested } = await follow([[entry(1)], [], [entry(2)]], 2, { now: () => times.shift() ?? 0 });
  expect(requested).toEqual([10_000, 10_000, 20_000]);
});

test('reports each loss once, after an entry has shown that there was a connection', async () => {
  expect((await follow([[entry(1)], [], [], [entry(1)], [], [entry(2)]], 2)).lost).toBe(2);
});

test('remembers the last entries only', async () => {
  const many = Array.from({ length: 20_001 }, (_, i) => entry(i));
  const { times } = await follow([many, [entry(0), entry(10_001), entry(20_000), entry(30_000)]], 30_000);
  expect(times.slice(20_001)).toEqual([0, 30_000]);
});
