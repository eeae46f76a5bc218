import { type LogFields, silentLogger, VirtualClock } from '@sluice/platform';
import { recordingLogger } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { type AppendedOffsets, type BusLimits, type BusRecord, streamStart, type Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { MemoryBus } from './memory-bus.ts';
import { NetworkedBus } from './networked-bus.ts';
import { appendAcceptable, assertNotRejected, rejectionOf } from './records.ts';

/** Rejects records with an id that contains "bad", as a server does. */
class PickyBus extends ForwardingBus {
  rejections = 0;
  #recordBytes = 100;

  override get limits(): BusLimits {
    return { recordBytes: this.#recordBytes, messageBytes: 1_000 };
  }

  override append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const problemOf = ({ id, headers }: BusRecord) => {
      if (!id.includes('bad') || rejectionOf({ headers }) !== undefined) return undefined;
      this.rejections += 1;
      return `no ${id}`;
    };
    return appendAcceptable(records, problemOf, (accepted) => super.append(topic, partition, accepted));
  }

  lowerLimit(): void {
    this.#recordBytes -= 1;
  }
}

const clock = new VirtualClock(0);
const picky = () => new PickyBus(new MemoryBus({ partitions: 1 }));
const record = (id: string, key = 'c/shop/web'): BusRecord => ({ key, id, headers: {}, payload: Buffer.from(id) });
const read = (bus: ForwardingBus) => bus.read('changes', 0, streamStart).next(10);

test('a marker takes the place of a rejected record, and those after it follow in their order', async () => {
  const log = recordingLogger();
  const bus = new NetworkedBus(picky(), { clock, logger: log });
  const records = ['a', 'bad-1', 'b', 'bad-2', 'c'].map((id) => record(id));
  expect(await bus.append('changes', 0, records)).toEqual([1, 2, 3, 4, 5]);
  const stored = await read(bus);
  expect(stored.map(({ id }) => id)).toEqual(['a', 'bad-1', 'b', 'bad-2', 'c']);
  expect(stored.map(rejectionOf)).toEqual([undefined, 'no bad-1', undefined, 'no bad-2', undefined]);
  expect(() => stored.forEach(assertNotRejected)).toThrow('the bus rejected the record: no bad-1');
  const logged = (fields: LogFields) => [fields.topic, fields.key, fields.id, fields.reason];
  expect(log.lines.map(({ fields }) => logged(fields ?? {}))).toEqual([
    ['changes', 'c/shop/web', 'bad-1', 'no bad-1'],
    ['changes', 'c/shop/web', 'bad-2', 'no bad-2'],
  ]);
});

test('the marker of a record whose key or id the bus cannot carry has hashes', async () => {
  const bus = new NetworkedBus(picky(), { clock, logger: silentLogger });
  const bad = record(`bad${'x'.repeat(100_000)}`, 'c/shop/web\r\nforged');
  await bus.append('changes', 0, [{ ...bad, payload: Buffer.of() }]);
  const [marker] = await read(bus);
  expect(marker?.id).toMatch(/^sha256:/);
  expect(marker?.key).toMatch(/^sha256:/);
  expect(rejectionOf(marker ?? record(''))).toHaveLength(200);
});

test('a record is tried again once the bus has learned of a lower limit', async () => {
  const inner = picky();
  const bus = new NetworkedBus(inner, { clock, logger: silentLogger });
  const append = inner.append.bind(inner);
  inner.append = async (...args) => {
    inner.lowerLimit();
    inner.append = append;
    return append(...args);
  };
  await bus.append('changes', 0, [record('bad')]);
  expect(inner.rejections).toBe(2);
});

test('other errors are left to the caller, with everything to be appended again', async () => {
  const inner = picky();
  inner.append = async () => Promise.reject(new Error('not now'));
  const bus = new NetworkedBus(inner, { clock, logger: silentLogger });
  await expect(bus.append('changes', 0, [record('a')])).rejects.toThrow('not now');
});
