import { type Bus, type BusRecord, type StreamOffset, streamStart } from '@sluice/bus';
import { afterEach, describe, expect, test } from 'vitest';
import { after, ids, records, take, takeUntil } from './bus-records.ts';
import type { BusFaults, BusUnderTest, CreateBusUnderTest } from './bus-under-test.ts';

const lost = { code: 'LOG_TRUNCATED' };

/** How a bus behaves when its servers crash, are down or lose data. For adapters that provide `faults`. */
export function busFaultsContract(name: string, createBus: CreateBusUnderTest): void {
  describe(`bus contract, faults: ${name}`, () => {
    const created: BusUnderTest[] = [];
    const create = async (): Promise<{ underTest: BusUnderTest; bus: Bus; faults: BusFaults }> => {
      const underTest = await createBus({ partitions: 4 });
      created.push(underTest);
      if (underTest.faults === undefined) throw new Error(`${name} has no faults to inject`);
      return { underTest, bus: await underTest.connect(), faults: underTest.faults };
    };

    afterEach(async () => {
      for (const underTest of created.splice(0)) await underTest.dispose();
    });

    test('a crash under load loses no acknowledged record and keeps the order', async () => {
      const { bus, faults } = await create();
      const appenders = [0, 1, 2, 3].map((partition) => appendUntil(bus, partition));
      const readers = [0, 1, 2, 3].map((partition) => takeUntil(bus.read('changes', partition, streamStart), 'end1'));
      for (let round = 0; round < 5; round++) {
        await Promise.all(appenders.map((appender) => appender.progress(300)));
        await faults.kill();
        await faults.start();
      }
      await Promise.all(appenders.map((appender) => appender.progress(300)));
      const acknowledged = await Promise.all(appenders.map((appender) => appender.stop()));
      for (const [partition, appended] of acknowledged.entries()) {
        await bus.append('changes', partition, records('end', 1, 1));
        const read = await readers[partition];
        const firsts = [...new Set(ids(read ?? []))];
        expect(firsts).toEqual([...appended, 'end1']);
        expect(read?.map(({ offset }) => offset)).toEqual(read?.map((_, i) => i + 1));
      }
      await bus.close();
    });

    test('appends and readers wait while the bus is down', async () => {
      const { bus, faults } = await create();
      await bus.append('changes', 0, records('a', 1, 1));
      const reader = bus.read('changes', 0, streamStart);
      await take(reader, 1);
      await faults.kill();
      const appended = bus.append('changes', 0, records('a', 2, 3));
      const reading = take(reader, 2);
      const fresh = take(bus.read('changes', 0, streamStart), 3);
      await faults.start();
      await appended;
      expect(ids(await reading)).toEqual(['a2', 'a3']);
      expect(ids(await fresh)).toEqual(['a1', 'a2', 'a3']);
      await bus.close();
    });

    test('closing does not wait for a bus that is down', async () => {
      const { bus, faults } = await create();
      const waiting = bus.read('changes', 0, streamStart).next(1);
      await faults.kill();
      const append = Promise.allSettled([bus.append('changes', 0, records('a', 1, 3))]);
      await bus.close();
      expect(await waiting).toEqual([]);
      expect((await append)[0]).toMatchObject({ status: 'rejected', reason: { code: 'BUS_CLOSED' } });
      await faults.start();
    });

    test('a recreated log is reported as truncated to waiting and to returning readers', async () => {
      const { underTest, bus, faults } = await create();
      await bus.append('changes', 1, records('a', 1, 3));
      const reader = bus.read('changes', 1, streamStart);
      const read = await take(reader, 3);
      const offset = after(reader, read[2]);
      const waiting = reader.next(1);
      const refused = expect(waiting).rejects.toMatchObject(lost);
      const idle = await underTest.connect();
      await faults.recreate('changes', 1);
      await refused;
      await expect(reader.next(1)).rejects.toMatchObject(lost);
      await bus.append('changes', 1, records('b', 1, 5));
      await expect(bus.read('changes', 1, offset).next(1)).rejects.toMatchObject(lost);
      const other = await underTest.connect();
      await expect(other.read('changes', 1, offset).next(1)).rejects.toMatchObject(lost);
      // The recovery of a partition worker.
      const end = await other.end('changes', 1);
      expect(end).toMatchObject({ offset: 5, id: 'b5' });
      expect(end.streamId).not.toBe(offset.streamId);
      expect((await idle.beginning('changes', 1)).streamId).toBe(end.streamId);
      await idle.close();
      const onward = other.read('changes', 1, end);
      await bus.append('changes', 1, records('b', 6, 6));
      expect(ids(await take(onward, 1))).toEqual(['b6']);
      await other.close();
      await bus.close();
    });

    test('a reader detects lost last records, whether or not others replaced them', async () => {
      const { bus, faults } = await create();
      for (const partition of [0, 1, 2]) await bus.append('changes', partition, records('a', 1, 3));
      await faults.save();
      const untouched = await offsetAfter(bus, 0, 3);
      for (const partition of [1, 2]) await bus.append('changes', partition, records('a', 4, 5));
      const shorter = await offsetAfter(bus, 1, 5);
      const replaced = await offsetAfter(bus, 2, 5);
      await faults.rewind();
      await bus.append('changes', 2, records('b', 4, 6));
      await bus.append('changes', 0, records('a', 4, 4));

      expect(ids(await take(bus.read('changes', 0, untouched), 1))).toEqual(['a4']);
      await expect(bus.read('changes', 1, shorter).next(1)).rejects.toMatchObject(lost);
      await expect(bus.read('changes', 2, replaced).next(1)).rejects.toMatchObject(lost);
      await bus.close();
    });

    test('a waiting reader detects that the last records are lost', async () => {
      const { bus, faults } = await create();
      await bus.append('changes', 0, records('a', 1, 3));
      await faults.save();
      await bus.append('changes', 0, records('a', 4, 5));
      const reader = bus.read('changes', 0, streamStart);
      await take(reader, 5);
      const refused = expect(reader.next(1)).rejects.toMatchObject(lost);
      await faults.rewind();
      await refused;
      await bus.close();
    });
  });
}

/** Appends batches to `changes`, one after the other, and tracks the acknowledged records. */
function appendUntil(bus: Bus, partition: number) {
  const acknowledged: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let stopped = false;
  let failure: unknown;
  const running = (async () => {
    while (!stopped) {
      const from = acknowledged.length + 1;
      const batch: BusRecord[] = records(`p${partition}-`, from, from + (from % 7));
      await bus.append('changes', partition, batch);
      acknowledged.push(...ids(batch));
      for (const waiter of waiting) if (acknowledged.length >= waiter.count) waiter.resolve();
    }
  })().catch((error: unknown) => {
    failure = error;
    for (const waiter of waiting) waiter.resolve();
  });
  return {
    async progress(count: number): Promise<void> {
      await new Promise<void>((resolve) => waiting.push({ count: acknowledged.length + count, resolve }));
      if (failure !== undefined) throw failure;
    },
    async stop(): Promise<readonly string[]> {
      stopped = true;
      await running;
      if (failure !== undefined) throw failure;
      return acknowledged;
    },
  };
}

/** The offset after the first `count` records of `changes`. */
async function offsetAfter(bus: Bus, partition: number, count: number): Promise<StreamOffset> {
  const reader = bus.read('changes', partition, streamStart);
  const read = await take(reader, count);
  reader.close();
  return after(reader, read.at(-1));
}
