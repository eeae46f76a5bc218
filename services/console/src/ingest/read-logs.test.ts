import { type Bus, LogTruncatedError, MemoryBus } from '@sluice/bus';
import { encodeMessage, formatServiceKey, type Message } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { History } from '../history/history.ts';
import { anOutcome, aPlan, pod, podChange, service, shop, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { BusFollower, firstTime } from './bus-follower.ts';
import { readLogs, tapBus } from './read-logs.ts';

const web = shop('web');
const toRecord = (message: Message, id = 'any') => ({
  ...{ id, key: formatServiceKey(web), headers: {}, payload: encodeMessage(message) },
});
const object = sliceOf('web-1', { version: '', ready: true });
const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
const plan = aPlan(1, 1_010, [{ verb: 'create', object }]);
const outcome = anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]);
const truncated = () => new LogTruncatedError('records are gone');

let clock: VirtualClock;
let history: History;
let bus: Bus;

beforeEach(async () => {
  clock = new VirtualClock(50_000);
  history = new History({ clock });
  bus = new MemoryBus({ partitions: 2 });
  await bus.append('changes', 1, [toRecord(first), toRecord(outcome)]);
  await bus.append('mutations', 1, [toRecord(plan)]);
});

const kinds = () => history.get(web)?.entries.map(({ kind }) => kind) ?? [];
const never = () => new AbortController().signal;

describe('logs to which nobody appends any more', () => {
  test('are read to their end, plans before their Outcomes', async () => {
    await readLogs(bus, history, never());
    expect(kinds()).toEqual(['observed', 'decided', 'completed']);
    expect(history.since, 'the time of the first record').toBe(1_000);
    expect(history.get(web)?.partition).toBe(1);
  });

  test('are read in batches', async () => {
    const changes = Array.from({ length: 600 }, () => toRecord(first));
    await bus.append('changes', 0, changes);
    const added = vi.spyOn(history, 'add');
    await readLogs(bus, history, never());
    expect(added).toHaveBeenCalledTimes(603);
  });

  test('are closed after they were read', async () => {
    const { read } = bus;
    let [opened, closed] = [0, 0];
    vi.spyOn(bus, 'read').mockImplementation((topic, partition, after) => {
      const reader = read.call(bus, topic, partition, after);
      opened++;
      const { close } = reader;
      reader.close = () => {
        closed++;
        close.call(reader);
      };
      return reader;
    });
    await readLogs(bus, history, never());
    expect([opened, closed], 'empty logs are not opened').toEqual([2, 2]);
  });

  test('are skipped from the record that has expired meanwhile, but no other error is', async () => {
    vi.spyOn(bus, 'read').mockImplementationOnce(() => {
      return { next: () => Promise.reject(truncated()), acknowledge: () => {}, close: () => {} } as never;
    });
    await readLogs(bus, history, never());
    expect(kinds()).toEqual(['observed', 'completed']);
    vi.spyOn(bus, 'read').mockImplementationOnce(() => {
      return { next: () => Promise.reject(new Error('broken')), close: () => {} } as never;
    });
    await expect(readLogs(bus, history, never())).rejects.toThrow('broken');
  });

  test('are not read after the signal aborts', async () => {
    await readLogs(bus, history, AbortSignal.abort());
    expect(history.size).toBe(0);
  });

  test('stop when the signal aborts during a read', async () => {
    const stop = new AbortController();
    vi.spyOn(bus, 'end').mockResolvedValue({ offset: 99, id: '', streamId: 'memory' });
    const reading = readLogs(bus, history, stop.signal);
    await expect.poll(() => vi.mocked(bus.end).mock.calls.length).toBeGreaterThan(0);
    stop.abort();
    await reading;
    expect(history.size).toBe(0);
  });
});

describe('a follower', () => {
  const follow = (given: Bus = bus) =>
    new BusFollower({ bus: given, history, clock, random: seededRandom(1), logger: silentLogger });

  test('starts the history with the first record, and has caught up when it has read what there was', async () => {
    const follower = follow();
    const stop = new AbortController();
    expect(follower.behind).toBe(4);
    const running = follower.run(stop.signal);
    await follower.caughtUp;
    expect([follower.behind, history.since]).toEqual([0, 1_000]);
    await bus.append('changes', 1, [toRecord(podChange(2, 500, pod('web-1', { ready: false })))]);
    await expect.poll(() => kinds().length).toBe(4);
    expect(history.since, 'of the first batch only').toBe(1_000);
    stop.abort();
    await running;
  });

  test('continues at the beginning of a log that was truncated', async () => {
    const { read } = bus;
    let truncations = 0;
    vi.spyOn(bus, 'read').mockImplementation((topic, partition, after) => {
      const reader = read.call(bus, topic, partition, after);
      if (topic !== 'changes' || partition !== 1 || truncations++ > 0) return reader;
      return { ...reader, next: () => Promise.reject(truncated()), close: () => reader.close() };
    });
    const follower = follow();
    const stop = new AbortController();
    const running = follower.run(stop.signal);
    await follower.caughtUp;
    expect(kinds()).toEqual(['observed', 'decided', 'completed']);
    stop.abort();
    await running;
  });

  test('tries again after another error', async () => {
    vi.spyOn(bus, 'end').mockRejectedValueOnce(new Error('no answer'));
    const follower = follow();
    const stop = new AbortController();
    const running = follower.run(stop.signal);
    await advance(clock, 1_000);
    await follower.caughtUp;
    expect(follower.behind).toBe(0);
    stop.abort();
    await running;
  });

  test('ends with an error when the bus is closed', async () => {
    await bus.close();
    await expect(follow().run(never())).rejects.toThrow();
  });
});

test('the start of a log is the time of its first record that has one', () => {
  const deliveries = (...messages: (Message | string)[]) =>
    messages.map((message, index) => ({
      ...toAppend(first),
      offset: index + 1,
      payload: typeof message === 'string' ? new TextEncoder().encode(message) : encodeMessage(message),
    }));
  const uncaused = { ...first, causes: { first: [], more: 0 } };
  expect(firstTime(deliveries('{', uncaused, plan, first))).toBe(1_010);
  expect(firstTime(deliveries(outcome))).toBe(1_017);
  expect(firstTime(deliveries(first, plan))).toBe(1_000);
  expect(firstTime(deliveries('{', uncaused))).toBeUndefined();
  expect(firstTime([])).toBeUndefined();
});

test('a tapped bus is the bus that it wraps', async () => {
  const limited = new MemoryBus({ partitions: 2, limits: { recordBytes: 1_000_000 } as never });
  const tapped = tapBus(limited, history);
  expect([tapped.partitions, tapped.limits]).toEqual([2, limited.limits]);
  const offsets = await tapped.append('changes', 1, [toRecord(first, 'a')]);
  expect(history.size).toBe(1);
  expect(offsets).toEqual([1]);
  expect(await tapped.end('changes', 1)).toEqual(await limited.end('changes', 1));
  expect(await tapped.beginning('changes', 1)).toEqual(await limited.beginning('changes', 1));
  const reader = tapped.read('changes', 1, await tapped.beginning('changes', 1));
  expect(await reader.next(9)).toMatchObject([{ id: 'a' }]);
  await tapped.close();
  await expect(limited.append('changes', 1, [])).rejects.toThrow();
});
