import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AppendedOffsets,
  BusClosedError,
  type BusRecord,
  type Delivery,
  type PartitionReader,
  type StreamOffset,
  streamStart,
  type Topic,
} from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { LocalDeliveryBus } from './local-delivery-bus.ts';
import { MemoryBus } from './memory-bus.ts';

/** A log on servers, which notes appends and can hold back or refuse them. */
class Servers extends ForwardingBus {
  readonly appends: string[] = [];
  isConnected = true;
  /** The next appends fail. */
  failures: Error[] = [];
  held: PromiseWithResolvers<void> | undefined;
  /** Answers of the appends that begin with these records, which are stored at once. */
  readonly answers = new Map<string, Promise<AppendedOffsets>>();
  readonly #stored = new Map<string, AppendedOffsets>();
  /** The log that was created in place of the first one. */
  recreated: MemoryBus | undefined;

  override get connected(): boolean {
    return this.isConnected;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.appends.push(`${topic}: ${records.map(({ id }) => id).join(' ')}`);
    await this.held?.promise;
    const id = `${topic} ${records[0]?.id}`;
    const offsets = this.#stored.get(id) ?? (await (this.recreated ?? this.inner).append(topic, partition, records));
    this.#stored.set(id, offsets);
    return this.answers.get(records[0]?.id ?? '') ?? offsets;
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    return (this.recreated ?? this.inner).read(topic, partition, after);
  }
}

let clock: VirtualClock;
let log: MemoryBus;
let servers: Servers;
let bus: LocalDeliveryBus;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  log = new MemoryBus({ partitions: 1 });
  servers = new Servers(log);
  bus = new LocalDeliveryBus(servers, { clock, random: seededRandom(1) });
});

const record = (id: string): BusRecord => ({
  ...{ key: 'c/ns/svc', id, headers: {}, payload: new TextEncoder().encode(id) },
  message: { id },
});
const deliver = (id: string, assertCurrent?: () => void) => bus.deliver('changes', 0, [record(id)], assertCurrent);
const read = () => bus.read('changes', 0, streamStart);

const shown = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ id, offset, isEarly, isRepeated }) => `${isEarly ? 'early' : isRepeated ? 'again' : offset} ${id}`);

/** A reader that has read back the first record of this process. */
async function caughtUp() {
  const reader = read();
  await bus.append('changes', 0, [record('first')]);
  expect(shown(await reader.next(10))).toEqual(['1 first']);
  return reader;
}

describe('changes', () => {
  test('are returned before the log has them, and once more by the log', async () => {
    const reader = await caughtUp();
    const stored = deliver('a');
    const early = await reader.next(10);
    expect(shown(early)).toEqual(['early a']);
    expect(early[0]?.message).toEqual({ id: 'a' });
    expect(servers.appends).toEqual(['changes: first']);
    const next = reader.next(10);
    await advance(clock, 250);
    expect(await stored).toEqual([2]);
    expect(await next).toMatchObject([{ id: 'a', offset: 2, isRepeated: true }]);
  });

  test('share one append', async () => {
    await caughtUp();
    const stored = ['a', 'b', 'c'].map((id) => deliver(id));
    await advance(clock, 250);
    expect(servers.appends).toEqual(['changes: first', 'changes: a b c']);
    expect(await Promise.all(stored)).toEqual([[2], [3], [4]]);
  });

  test('are not delivered without a reader, and not before it has read what this process has appended', async () => {
    expect(deliver('a')).toBeUndefined();
    await bus.append('changes', 0, [record('first')]);
    const reader = read();
    await advance(clock, 0);
    expect(deliver('a')).toBeUndefined();
    await reader.next(10);
    expect(deliver('a')).toBeDefined();
    reader.close();
    expect(deliver('b')).toBeUndefined();
  });

  test('are not delivered while an append is in flight, or the bus does not answer', async () => {
    await caughtUp();
    servers.held = Promise.withResolvers();
    const appended = bus.append('changes', 0, [record('a')]);
    expect(deliver('b')).toBeUndefined();
    servers.held.resolve();
    await appended;
    const other = new LocalDeliveryBus(servers, { clock, random: seededRandom(1) });
    other.read('changes', 0, streamStart);
    await advance(clock, 0);
    servers.isConnected = false;
    expect(other.deliver('changes', 0, [record('c')])).toBeUndefined();
    servers.isConnected = true;
    expect(other.deliver('changes', 0, [record('c')])).toBeDefined();
  });

  test('are not delivered before the reader has read all of several appends, whatever the order of their answers', async () => {
    const reader = await caughtUp();
    const [outcome, change] = [Promise.withResolvers<AppendedOffsets>(), Promise.withResolvers<AppendedOffsets>()];
    servers.answers.set('outcome', outcome.promise).set('change', change.promise);
    const appends = ['outcome', 'change'].map((id) => bus.append('changes', 0, [record(id)]));
    await advance(clock, 0);
    change.resolve([3]);
    outcome.resolve([2]);
    await Promise.all(appends);
    expect(shown(await reader.next(1))).toEqual(['2 outcome']);
    expect(deliver('next change')).toBeUndefined();
    expect(shown(await reader.next(1))).toEqual(['3 change']);
    expect(deliver('next change')).toBeDefined();
  });

  test('are not delivered earlier because an append was repeated, which has the offset of its first occurrence', async () => {
    const reader = await caughtUp();
    const unanswered = Promise.withResolvers<AppendedOffsets>();
    servers.answers.set('a', unanswered.promise);
    unanswered.reject(new Error('no answer'));
    await expect(bus.append('changes', 0, [record('a')])).rejects.toThrow('no answer');
    await bus.append('changes', 0, [record('b')]);
    servers.answers.delete('a');
    expect(await bus.append('changes', 0, [record('a')])).toEqual([2]);
    expect(shown(await reader.next(1))).toEqual(['2 a']);
    expect(deliver('after b')).toBeUndefined();
    expect(shown(await reader.next(1))).toEqual(['3 b']);
    expect(deliver('after b')).toBeDefined();
  });

  test('are not delivered while the bus does not know where an append ended', async () => {
    const reader = await caughtUp();
    const [unknown, known] = [Promise.withResolvers<AppendedOffsets>(), Promise.withResolvers<AppendedOffsets>()];
    servers.answers.set('a', known.promise).set('b', unknown.promise);
    const appends = ['a', 'b'].map((id) => bus.append('changes', 0, [record(id)]));
    await advance(clock, 0);
    unknown.resolve(undefined);
    known.resolve([2]);
    await Promise.all(appends);
    await reader.next(10);
    expect(deliver('c')).toBeUndefined();
    await bus.append('changes', 0, [record('c')]);
    await reader.next(10);
    expect(deliver('d')).toBeDefined();
  });

  test('are delivered from a recreated log, whose offsets restart, once the reader has read an append to it', async () => {
    const former = await caughtUp();
    for (const id of ['a', 'b', 'c']) await bus.append('changes', 0, [record(id)]);
    former.close();
    servers.recreated = new MemoryBus({ partitions: 1 });
    const reader = bus.read('changes', 0, { ...streamStart, streamId: 'recreated' });
    await advance(clock, 0);
    expect(deliver('d')).toBeUndefined();
    await bus.append('changes', 0, [record('d')]);
    expect(deliver('e')).toBeUndefined();
    expect(shown(await reader.next(10))).toEqual(['1 d']);
    expect(deliver('e')).toBeDefined();
  });

  test('get into the log before what is appended later', async () => {
    const reader = await caughtUp();
    const stored = deliver('a');
    await bus.append('changes', 0, [record('b')]);
    await stored;
    expect(shown(await reader.next(1))).toEqual(['early a']);
    expect(shown(await reader.next(10))).toEqual(['again a', '3 b']);
  });

  test('a new reader gets them from the log first', async () => {
    const former = await caughtUp();
    void deliver('a');
    former.close();
    const reader = read();
    expect(deliver('b')).toBeUndefined();
    await advance(clock, 0);
    expect(shown(await reader.next(1))).toEqual(['1 first']);
    expect(deliver('b')).toBeUndefined();
    expect(shown(await reader.next(1))).toEqual(['2 a']);
    expect(deliver('b')).toBeDefined();
    expect(shown(await reader.next(1))).toEqual(['early b']);
  });

  test('are not delivered to a reader whose log has ended', async () => {
    const reader = await caughtUp();
    const next = reader.next(10);
    await log.close();
    expect(await next).toEqual([]);
    expect(deliver('a')).toBeUndefined();
  });

  test('more than 64 that wait are refused', async () => {
    await caughtUp();
    for (let n = 0; n < 64; n++) expect(deliver(`r${n}`)).toBeDefined();
    expect(deliver('more')).toBeUndefined();
  });

  test('are refused while an append takes longer than 250 ms', async () => {
    await caughtUp();
    servers.held = Promise.withResolvers();
    const stored = deliver('a');
    await advance(clock, 500);
    expect(deliver('b')).toBeUndefined();
    servers.held.resolve();
    await stored;
    expect(deliver('b')).toBeDefined();
  });

  test('an append that fails is repeated in its place', async () => {
    await caughtUp();
    servers.failures = [new Error('refused'), new Error('refused')];
    const stored = deliver('a');
    await advance(clock, 250);
    void deliver('b');
    await advance(clock, 1_000);
    expect(await stored).toEqual([2]);
    expect(servers.appends).toEqual(['changes: first', 'changes: a', 'changes: b']);
  });

  test('a closed bus rejects them', async () => {
    await caughtUp();
    servers.failures = [new BusClosedError('closed')];
    const stored = deliver('a');
    await advance(clock, 250);
    await expect(stored).rejects.toThrow(BusClosedError);
  });

  test('a process that is no longer the owner does not append them', async () => {
    await caughtUp();
    const lost = new Error('lease expired');
    const stored = deliver('a', () => {
      throw lost;
    });
    const other = deliver('b');
    await advance(clock, 250);
    await expect(stored).rejects.toBe(lost);
    expect(await other).toEqual([2]);
    expect(servers.appends.at(-1)).toBe('changes: b');
  });
});

describe('plans', () => {
  /** A reader that gets plans within the process. */
  async function planReader() {
    const reader = bus.read('mutations', 0, streamStart);
    bus.produceExclusively('mutations', 0);
    await bus.append('mutations', 0, [record('first plan')]);
    await reader.next(10);
    return reader;
  }

  test('are delivered at once and stored before what follows from them', async () => {
    const [plans, changes] = [await planReader(), await caughtUp()];
    const stored = bus.deliver('mutations', 0, [record('plan')]);
    const [plan] = await plans.next(10);
    expect(plan).toMatchObject({ id: 'plan', offset: 2 });
    void deliver('outcome');
    expect(shown(await changes.next(10))).toEqual(['early outcome']);
    servers.held = Promise.withResolvers();
    await advance(clock, 250);
    expect(servers.appends.slice(2)).toEqual(['mutations: plan']);
    servers.held.resolve();
    await advance(clock, 0);
    expect(servers.appends.slice(2)).toEqual(['mutations: plan', 'changes: outcome']);
    expect(await stored).toEqual([2]);
    await plan?.stored;
  });

  test('are stored at once when their reader or producer ends', async () => {
    const plans = await planReader();
    void bus.deliver('mutations', 0, [record('plan')]);
    plans.close();
    await advance(clock, 0);
    expect(servers.appends.at(-1)).toBe('mutations: plan');
  });
});

test('flush stores everything at once', async () => {
  await caughtUp();
  const stored = deliver('a');
  bus.flush();
  expect(await stored).toEqual([2]);
});
