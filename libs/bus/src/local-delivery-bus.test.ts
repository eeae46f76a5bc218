import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { type AppendedOffsets, type BusRecord, type Delivery, type PartitionReader, streamStart } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { LocalDeliveryBus } from './local-delivery-bus.ts';
import { MemoryBus } from './memory-bus.ts';
import { NetworkedBus } from './networked-bus.ts';

/** A log on servers, whose acknowledgements can be held back. */
class Servers extends ForwardingBus {
  /** Readers opened so far. */
  reads = 0;
  #acknowledging: PromiseWithResolvers<void> | undefined;
  /** Instead of the next append. */
  next: ((append: () => Promise<AppendedOffsets>) => Promise<AppendedOffsets>) | undefined;

  hold(): void {
    this.#acknowledging = Promise.withResolvers();
  }

  acknowledge(): void {
    this.#acknowledging?.resolve();
    this.#acknowledging = undefined;
  }

  override async append(...args: Parameters<ForwardingBus['append']>): Promise<AppendedOffsets> {
    const { next } = this;
    this.next = undefined;
    const append = () => super.append(...args);
    const offsets = await (next === undefined ? append() : next(append));
    await this.#acknowledging?.promise;
    return offsets;
  }

  override read(...args: Parameters<ForwardingBus['read']>): PartitionReader {
    this.reads += 1;
    return super.read(...args);
  }
}

let clock: VirtualClock;
let log: MemoryBus;
let servers: Servers;
let bus: LocalDeliveryBus;
let reader: PartitionReader;

beforeEach(() => {
  clock = new VirtualClock(0);
  log = new MemoryBus({ partitions: 1 });
  servers = new Servers(log);
  bus = new LocalDeliveryBus(servers, { clock, random: seededRandom(1) });
  reader = bus.read('mutations', 0, streamStart);
});

const record = (id: string): BusRecord => ({
  ...{ key: 'c/ns/svc', id, headers: {}, payload: new TextEncoder().encode(id) },
  message: { id },
});
const append = (...ids: readonly string[]) => bus.append('mutations', 0, ids.map(record));

const shown = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ id, offset, stored }) => `${offset} ${id}${stored === undefined ? '' : ' locally'}`);

async function read(count: number): Promise<readonly string[]> {
  const deliveries: Delivery[] = [];
  while (deliveries.length < count) deliveries.push(...(await reader.next(count - deliveries.length)));
  return shown(deliveries);
}

/** Whether the promise is pending. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, turn])) === pending;
}

/** The only producer, after its first record. */
async function produce(): Promise<() => void> {
  const stop = bus.produceExclusively('mutations', 0);
  await append('first');
  expect(await read(1)).toEqual(['1 first']);
  return stop;
}

test('the only producer has its records delivered before the log acknowledges them', async () => {
  await produce();
  servers.hold();
  const appended = append('a', 'b');
  const deliveries = await reader.next(10);
  expect(shown(deliveries)).toEqual(['2 a locally', '3 b locally']);
  expect(deliveries[0]?.message).toEqual({ id: 'a' });
  const stored = Promise.all(deliveries.map((delivery) => delivery.stored));
  expect(await isPending(stored)).toBe(true);
  servers.acknowledge();
  expect(await appended).toEqual([2, 3]);
  await stored;
  expect(reader.streamId).toBe('memory');
  expect((await log.end('mutations', 0)).offset).toBe(3);
});

test('without an only producer, all records come from the log', async () => {
  await append('a');
  await log.append('mutations', 0, [record('b')]);
  expect(await read(2)).toEqual(['1 a', '2 b']);
  await append('c');
  expect(await read(1)).toEqual(['3 c']);
});

test('records of former producers come first', async () => {
  await log.append('mutations', 0, [record('former')]);
  bus.produceExclusively('mutations', 0);
  await append('a');
  expect(await read(2)).toEqual(['1 former', '2 a']);
  await append('b');
  expect(await read(1)).toEqual(['3 b locally']);
});

test('a reader at the end of the log of the only producer does not open the log', async () => {
  await log.append('mutations', 0, [record('former')]);
  bus.produceExclusively('mutations', 0);
  const end = await bus.end('mutations', 0);
  servers.reads = 0;
  reader = bus.read('mutations', 0, end);
  await append('a');
  expect(await read(1)).toEqual(['2 a locally']);
  expect(servers.reads).toBe(0);
});

test.each([
  [
    'that was read before this process was the only producer',
    async () => {
      const end = await bus.end('mutations', 0);
      bus.produceExclusively('mutations', 0);
      return end;
    },
  ],
  [
    'of another log',
    async () => {
      bus.produceExclusively('mutations', 0);
      return { ...(await bus.end('mutations', 0)), streamId: 'deleted' };
    },
  ],
  [
    'after another record',
    async () => {
      bus.produceExclusively('mutations', 0);
      return { ...(await bus.end('mutations', 0)), id: 'lost' };
    },
  ],
  [
    'before a record of this process',
    async () => {
      bus.produceExclusively('mutations', 0);
      const end = await bus.end('mutations', 0);
      void append('a');
      return end;
    },
  ],
])('a reader opens the log at an end %s', async (_, findEnd) => {
  await log.append('mutations', 0, [record('former')]);
  const end = await findEnd();
  servers.reads = 0;
  bus.read('mutations', 0, end);
  expect(servers.reads).toBe(1);
});

test('a reader that began at the end of the log continues there after the only producer', async () => {
  const stop = bus.produceExclusively('mutations', 0);
  reader = bus.read('mutations', 0, await bus.end('mutations', 0));
  stop();
  await log.append('mutations', 0, [record('next')]);
  expect(await read(1)).toEqual(['1 next']);
});

test('an append that began before the first record was read back is read from the log', async () => {
  bus.produceExclusively('mutations', 0);
  await append('a');
  servers.hold();
  const second = append('b');
  expect(await read(2)).toEqual(['1 a', '2 b']);
  servers.acknowledge();
  await second;
  await append('c');
  expect(await read(1)).toEqual(['3 c locally']);
});

test('after the only producer, the log continues where it stopped', async () => {
  const stop = await produce();
  servers.hold();
  const appended = append('a');
  const waiting = read(2);
  stop();
  servers.acknowledge();
  await appended;
  await log.append('mutations', 0, [record('next')]);
  expect(await waiting).toEqual(['2 a locally', '3 next']);
  await append('b');
  expect(await read(1)).toEqual(['4 b']);
});

test('a record that the log stores elsewhere is not confirmed, and the reader fails; the append succeeds', async () => {
  await produce();
  servers.next = async (store) => {
    await log.append('mutations', 0, [record('foreign')]);
    return store();
  };
  const appended = append('a');
  const [delivery] = await reader.next(1);
  await expect(delivery?.stored).rejects.toMatchObject({ code: 'RECORD_NOT_STORED' });
  await expect(reader.next(1)).rejects.toMatchObject({ code: 'RECORD_NOT_STORED' });
  expect(await appended).toEqual([3]);
  // The next reader gets both, and then what follows.
  reader = bus.read('mutations', 0, { offset: 1, id: 'first', streamId: 'memory' });
  expect(await read(2)).toEqual(['2 foreign', '3 a']);
  await append('b');
  expect(await read(1)).toEqual(['4 b locally']);
});

test('a failed append fails the reader too', async () => {
  await produce();
  servers.next = () => Promise.reject(new Error('refused'));
  const appended = append('a');
  const [delivery] = await reader.next(1);
  await expect(appended).rejects.toThrow('refused');
  await expect(delivery?.stored).rejects.toMatchObject({ code: 'RECORD_NOT_STORED' });
  await expect(reader.next(1)).rejects.toMatchObject({ code: 'RECORD_NOT_STORED' });
});

test('a bus that does not know offsets delivers all records from the log', async () => {
  servers.next = async (store) => void (await store());
  bus.produceExclusively('mutations', 0);
  await append('a');
  expect(await read(1)).toEqual(['1 a']);
  servers.next = async (store) => void (await store());
  await append('b');
  expect(await read(1)).toEqual(['2 b']);
});

test('while records are delivered within the process, the log is not read', async () => {
  const stop = await produce();
  for (const id of ['a', 'b', 'c']) await append(id);
  expect(await read(3)).toHaveLength(3);
  expect(servers.reads).toBe(1);
  stop();
  await append('d');
  expect(await read(1)).toEqual(['5 d']);
  expect(servers.reads).toBe(2);
});

test('a message in chunks is read from the log, because its offset is unknown before', async () => {
  const limited = new MemoryBus({ partitions: 1, limits: { recordBytes: 8, messageBytes: 100 } });
  const held = new Servers(new NetworkedBus(limited, { clock: new VirtualClock(0), logger: silentLogger }));
  bus = new LocalDeliveryBus(held, { clock, random: seededRandom(1) });
  reader = bus.read('mutations', 0, streamStart);
  await produce();
  held.hold();
  const appended = append('more than eight bytes');
  expect(await read(1)).toEqual(['4 more than eight bytes']);
  held.acknowledge();
  expect(await appended).toEqual([4]);
  await append('b');
  expect(await read(1)).toEqual(['5 b locally']);
});

test('a closed reader returns nothing', async () => {
  await produce();
  const waiting = reader.next(1);
  reader.close();
  expect(await waiting).toEqual([]);
  await append('a');
  reader = bus.read('mutations', 0, { offset: 1, id: 'first', streamId: 'memory' });
  expect(await read(1)).toEqual(['2 a']);
});

test('other topics are passed to the log', async () => {
  bus.produceExclusively('changes', 0);
  reader = bus.read('changes', 0, streamStart);
  for (const id of ['a', 'b']) await bus.append('changes', 0, [record(id)]);
  expect(await read(2)).toEqual(['1 a', '2 b']);
});

test('a new reader reads all that was delivered within the process before it gets records within the process', async () => {
  await produce();
  await append('second');
  await append('third');
  expect(await read(2)).toEqual(['2 second locally', '3 third locally']);
  reader.close();
  reader = bus.read('mutations', 0, { offset: 1, id: 'first', streamId: reader.streamId });
  expect(await read(1)).toEqual(['2 second']);
  const third = read(1);
  expect(await isPending(third)).toBe(false);
  expect(await third).toEqual(['3 third']);
  await append('fourth');
  expect(await read(1)).toEqual(['4 fourth locally']);
});
