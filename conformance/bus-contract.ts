import { type Bus, streamStart } from '@sluice/bus';
import { afterEach, describe, expect, test } from 'vitest';
import { busLimitsContract } from './bus-limits-contract.ts';
import { after, ids, records, take, takeUntil } from './bus-records.ts';
import type { BusFeatures, BusUnderTest, CreateBusUnderTest } from './bus-under-test.ts';

/**
 * The contract of the bus port. Every adapter runs it. bus-faults-contract.ts covers servers that crash or lose data.
 */
export function busContract(name: string, features: BusFeatures, createBus: CreateBusUnderTest): void {
  describe(`bus contract: ${name}`, () => {
    const created: BusUnderTest[] = [];
    const createIn = async (partitions: number): Promise<Bus> => {
      const underTest = await createBus({ partitions });
      created.push(underTest);
      return underTest.connect();
    };
    const create = () => createIn(4);

    afterEach(async () => {
      for (const underTest of created.splice(0)) await underTest.dispose();
    });

    test('reads the records of a partition in append order', async () => {
      const bus = await create();
      const reader = bus.read('changes', 1, streamStart);
      await bus.append('changes', 1, records('a', 1, 3));
      await bus.append('changes', 1, records('b', 1, 2));
      const read = await take(reader, 5);
      expect(read.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
      expect(read.map(({ offset }) => offset)).toEqual([1, 2, 3, 4, 5]);
      await bus.close();
    });

    test('an append resolves with the offsets of its records', async () => {
      const bus = await create();
      const offsets = [
        await bus.append('changes', 1, records('a', 1, 3)),
        await bus.append('changes', 1, records('b', 1, 1)),
        await bus.append('changes', 1, records('b', 1, 2)),
      ];
      const b = features.dedupes === true ? [4, 5] : [5, 6];
      expect(offsets).toEqual([[1, 2, 3], [4], b]);
      await bus.close();
    });

    test('preserves payload, key and headers', async () => {
      const bus = await create();
      const record = { key: 'k', id: 'x', headers: { traceparent: '00-1' }, payload: Uint8Array.from([0, 255, 10]) };
      await bus.append('mutations', 0, [record]);
      const [delivery] = await take(bus.read('mutations', 0, streamStart), 1);
      expect({ ...delivery, payload: [...(delivery?.payload ?? [])] }).toMatchObject({
        ...record,
        payload: [0, 255, 10],
      });
      await bus.close();
    });

    test('isolates partitions and topics', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 1));
      await bus.append('changes', 1, records('b', 1, 1));
      await bus.append('mutations', 0, records('c', 1, 1));
      expect((await take(bus.read('changes', 0, streamStart), 1)).map(({ id }) => id)).toEqual(['a1']);
      expect((await take(bus.read('mutations', 0, streamStart), 1)).map(({ id }) => id)).toEqual(['c1']);
      await bus.close();
    });

    test('resumes after the stored offset', async () => {
      const bus = await create();
      await bus.append('changes', 2, records('a', 1, 4));
      const reader = bus.read('changes', 2, streamStart);
      const [, second] = await take(reader, 4);
      const again = await take(bus.read('changes', 2, after(reader, second)), 2);
      expect(again.map(({ id }) => id)).toEqual(['a3', 'a4']);
      await bus.close();
    });

    test('delivers a later append to a waiting reader', async () => {
      const bus = await create();
      const waiting = bus.read('changes', 0, streamStart).next(10);
      await bus.append('changes', 0, records('a', 1, 1));
      expect((await waiting).map(({ id }) => id)).toEqual(['a1']);
      await bus.close();
    });

    test('next returns no more records than requested', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 5));
      const reader = bus.read('changes', 0, streamStart);
      expect((await reader.next(2)).length).toBeLessThanOrEqual(2);
      await bus.close();
    });

    test('a new reader gets the records that were not released', async () => {
      const bus = await create();
      await bus.append('mutations', 3, records('a', 1, 400));
      const reader = bus.read('mutations', 3, streamStart);
      const read = await take(reader, 400);
      const committed = after(reader, read[149]);
      reader.release(committed.offset);
      reader.close();
      const again = await take(bus.read('mutations', 3, committed), 250);
      expect(again[0]?.id).toBe('a151');
      expect(again.at(-1)?.id).toBe('a400');
      await bus.close();
    });

    test('a reader that starts at the end gets only later records', async () => {
      const bus = await create();
      await bus.append('requests', 0, records('a', 1, 3));
      const end = await bus.end('requests', 0);
      expect(end).toMatchObject({ offset: 3, id: 'a3' });
      const reader = bus.read('requests', 0, end);
      await bus.append('requests', 0, records('b', 1, 1));
      expect((await take(reader, 1)).map(({ id, offset }) => ({ id, offset: offset }))).toEqual([
        { id: 'b1', offset: 4 },
      ]);
      await bus.close();
    });

    test('a reader that starts at the beginning gets all retained records', async () => {
      const bus = await create();
      expect((await bus.beginning('mutations', 1)).offset).toBe(0);
      await bus.append('mutations', 1, records('a', 1, 300));
      const reader = bus.read('mutations', 1, streamStart);
      await take(reader, 300);
      reader.release(200);
      const oldest = await bus.beginning('mutations', 1);
      const kept = await take(bus.read('mutations', 1, oldest), 300 - oldest.offset);
      expect(oldest.offset).toBeLessThanOrEqual(200);
      expect(kept[0]?.id).toBe(`a${oldest.offset + 1}`);
      expect(kept.at(-1)?.id).toBe('a300');
      await bus.close();
    });

    test('the end of an empty log is its beginning', async () => {
      const bus = await create();
      expect((await bus.end('changes', 3)).offset).toBe(0);
      await bus.close();
    });

    test('an offset past the end is an error, because records were lost', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 3));
      const { streamId } = await bus.end('changes', 0);
      const reader = bus.read('changes', 0, { offset: 4, id: 'a4', streamId });
      await expect(reader.next(1)).rejects.toMatchObject({ code: 'LOG_TRUNCATED' });
      await expect(reader.next(1)).rejects.toMatchObject({ code: 'LOG_TRUNCATED' });
      await bus.close();
    });

    test('closing a reader resolves its pending read with an empty list', async () => {
      const bus = await create();
      const reader = bus.read('changes', 0, streamStart);
      const waiting = reader.next(1);
      reader.close();
      expect(await waiting).toEqual([]);
      await bus.close();
    });

    test('closing the bus resolves pending reads and rejects later appends', async () => {
      const bus = await create();
      const waiting = bus.read('changes', 0, streamStart).next(1);
      await bus.close();
      expect(await waiting).toEqual([]);
      await expect(bus.append('changes', 0, records('a', 1, 1))).rejects.toMatchObject({ code: 'BUS_CLOSED' });
    });

    test('delivers a large record', async () => {
      const bus = await create();
      const payload = new Uint8Array(900_000).fill(7);
      await bus.append('changes', 0, [{ key: 'k', id: 'large', headers: {}, payload }]);
      const [delivery] = await take(bus.read('changes', 0, streamStart), 1);
      expect(delivery?.payload.length).toBe(payload.length);
      await bus.close();
    });

    test.runIf(features.maxBacklog === undefined)(
      'reads large records between small ones in append order',
      async () => {
        const bus = await create();
        const sizes = Array.from({ length: 60 }, (_, i) => (i % 12 === 7 ? 900_000 : 20_000));
        const appended = sizes.map((bytes, i) => ({
          ...{ key: 'k', id: `r${i}`, headers: {}, payload: new Uint8Array(bytes) },
        }));
        await bus.append('changes', 0, appended);
        const reader = bus.read('changes', 0, streamStart);
        const read = await take(reader, sizes.length);
        expect(read.map(({ id, payload }) => [id, payload.length])).toEqual(sizes.map((bytes, i) => [`r${i}`, bytes]));
        await bus.close();
      },
    );

    test('several readers read a log from its beginning independently', async () => {
      const bus = await create();
      await bus.append('mutations', 1, records('a', 1, 50));
      const quick = bus.read('mutations', 1, streamStart);
      const slow = bus.read('mutations', 1, streamStart);
      expect(ids(await take(slow, 3))).toEqual(['a1', 'a2', 'a3']);
      expect(ids(await take(quick, 50))).toEqual(ids(records('a', 1, 50)));
      expect(ids(await take(slow, 47))).toEqual(ids(records('a', 4, 50)));
      expect(ids(await take(bus.read('mutations', 1, streamStart), 50))).toEqual(ids(records('a', 1, 50)));
      await bus.close();
    });

    test('repeating an append keeps the order of the first copies', async () => {
      const bus = await create();
      await bus.append('mutations', 2, records('a', 1, 3));
      await bus.append('mutations', 2, records('a', 2, 5));
      await bus.append('mutations', 2, records('a', 1, 5));
      await bus.append('mutations', 2, records('end', 1, 1));
      const read = ids(await takeUntil(bus.read('mutations', 2, streamStart), 'end1'));
      expect([...new Set(read)]).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'end1']);
      if (features.dedupes === true) expect(read).toHaveLength(6);
      await bus.close();
    });

    test('headers and keys may contain any single-line text', async () => {
      const bus = await create();
      const record = {
        key: 'kluster-ü/default/web',
        id: 'plan/7:ä',
        headers: { traceparent: '00-ab', tracestate: 'a=b,c=d', 'x-Mixed-Case': 'é', empty: '' },
        payload: new Uint8Array(),
      };
      await bus.append('changes', 0, [record]);
      const [delivery] = await take(bus.read('changes', 0, streamStart), 1);
      expect({ ...delivery, payload: delivery?.payload.length }).toEqual({ ...record, payload: 0, offset: 1 });
      await bus.close();
    });

    test('a slow reader gets everything in order', async () => {
      const bus = await create();
      const count = Math.min(3000, (features.maxBacklog ?? 3000) - 1);
      const reader = bus.read('mutations', 0, streamStart);
      const read = await Promise.all([
        bus.append('mutations', 0, records('a', 1, count, 2000)),
        (async () => {
          const all: string[] = [];
          while (all.length < count) {
            const next = await reader.next(7);
            if (next.length === 0) break;
            all.push(...ids(next));
            await new Promise((resolve) => setImmediate(resolve));
          }
          return all;
        })(),
      ]).then(([, all]) => all);
      expect(read).toEqual(ids(records('a', 1, count)));
      await bus.close();
    });

    test('keeps the order in each of 64 partitions used concurrently', async () => {
      const bus = await createIn(64);
      const partitions = Array.from({ length: 64 }, (_, partition) => partition);
      const read = await Promise.all(
        partitions.map(async (partition) => {
          const reader = bus.read('mutations', partition, streamStart);
          const appended = (async () => {
            for (let i = 0; i < 5; i++) {
              await bus.append('mutations', partition, records(`p${partition}-`, i * 3 + 1, i * 3 + 3));
            }
          })();
          const deliveries = await take(reader, 15);
          await appended;
          return ids(deliveries);
        }),
      );
      for (const partition of partitions) expect(read[partition]).toEqual(ids(records(`p${partition}-`, 1, 15)));
      await bus.close();
    });

    test('rejects a partition number out of range', async () => {
      const bus = await create();
      await expect(bus.append('changes', 4, records('a', 1, 1))).rejects.toThrow(RangeError);
      expect(() => bus.read('changes', 4, streamStart)).toThrow(RangeError);
      await expect(bus.end('changes', -1)).rejects.toThrow(RangeError);
      await bus.close();
    });

    test('closing under load resolves or rejects every append and ends every reader', async () => {
      const bus = await create();
      const readers = [0, 1, 2, 3].map((partition) => bus.read('mutations', partition, streamStart));
      const reading = readers.map(async (reader) => {
        while ((await reader.next(10)).length > 0);
        return 'ended';
      });
      const appending = readers.map((_, partition) => bus.append('mutations', partition, records('a', 1, 500)));
      const settled = Promise.allSettled(appending);
      await bus.close();
      await bus.close();
      expect(await Promise.all(reading)).toEqual(['ended', 'ended', 'ended', 'ended']);
      for (const result of await settled) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'BUS_CLOSED' });
      }
      await expect(bus.end('changes', 0)).rejects.toMatchObject({ code: 'BUS_CLOSED' });
      expect(await bus.read('changes', 0, streamStart).next(1)).toEqual([]);
    });

    test.runIf(features.shared === true)('another process resumes after an offset and reads new records', async () => {
      const underTest = await createBus({ partitions: 4 });
      created.push(underTest);
      const one = await underTest.connect();
      await one.append('changes', 3, records('a', 1, 3));
      const reader = one.read('changes', 3, streamStart);
      const [, second] = await take(reader, 2);
      const offset = after(reader, second);
      await one.close();
      const other = await underTest.connect();
      const taken = other.read('changes', 3, offset);
      await other.append('changes', 3, records('b', 1, 1));
      expect(ids(await take(taken, 2))).toEqual(['a3', 'b1']);
      await other.close();
    });

    busLimitsContract(features, create);
  });
}
