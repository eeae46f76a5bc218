import { type Bus, type BusRecord, type Cursor, type Delivery, origin, type PartitionReader } from '@sluice/bus';
import { describe, expect, test } from 'vitest';

/** What an adapter promises beyond the port's contract. */
export interface BusFeatures {
  /** `append` to `changes` waits while more records than this are not released. */
  readonly maxBacklog?: number;
}

/** The contract of the bus port. Every adapter runs it with a factory of its own. */
export function busContract(name: string, features: BusFeatures, create: () => Promise<Bus>): void {
  describe(`bus contract: ${name}`, () => {
    test('records of one partition are read in the order of their appends', async () => {
      const bus = await create();
      const reader = bus.read('changes', 1, origin);
      await bus.append('changes', 1, records('a', 1, 3));
      await bus.append('changes', 1, records('b', 1, 2));
      const read = await take(reader, 5);
      expect(read.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
      expect(read.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
      await bus.close();
    });

    test('payload, key and headers come as they were given', async () => {
      const bus = await create();
      const record = { key: 'k', id: 'x', headers: { traceparent: '00-1' }, payload: Uint8Array.from([0, 255, 10]) };
      await bus.append('mutations', 0, [record]);
      const [delivery] = await take(bus.read('mutations', 0, origin), 1);
      expect({ ...delivery, payload: [...(delivery?.payload ?? [])] }).toMatchObject({
        ...record,
        payload: [0, 255, 10],
      });
      await bus.close();
    });

    test('partitions and topics are apart from each other', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 1));
      await bus.append('changes', 1, records('b', 1, 1));
      await bus.append('mutations', 0, records('c', 1, 1));
      expect((await take(bus.read('changes', 0, origin), 1)).map(({ id }) => id)).toEqual(['a1']);
      expect((await take(bus.read('mutations', 0, origin), 1)).map(({ id }) => id)).toEqual(['c1']);
      await bus.close();
    });

    test('a reader starts after the position that it remembers', async () => {
      const bus = await create();
      await bus.append('changes', 2, records('a', 1, 4));
      const reader = bus.read('changes', 2, origin);
      const [, second] = await take(reader, 4);
      const again = await take(bus.read('changes', 2, after(reader, second)), 2);
      expect(again.map(({ id }) => id)).toEqual(['a3', 'a4']);
      await bus.close();
    });

    test('a reader that waits gets what is appended later', async () => {
      const bus = await create();
      const waiting = bus.read('changes', 0, origin).next(10);
      await bus.append('changes', 0, records('a', 1, 1));
      expect((await waiting).map(({ id }) => id)).toEqual(['a1']);
      await bus.close();
    });

    test('next returns at most as many as asked for', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 5));
      const reader = bus.read('changes', 0, origin);
      expect((await reader.next(2)).length).toBeLessThanOrEqual(2);
      await bus.close();
    });

    test('what is not released is there for a reader that starts again', async () => {
      const bus = await create();
      await bus.append('mutations', 3, records('a', 1, 400));
      const reader = bus.read('mutations', 3, origin);
      const read = await take(reader, 400);
      const committed = after(reader, read[149]);
      reader.release(committed.position);
      reader.close();
      const again = await take(bus.read('mutations', 3, committed), 250);
      expect(again[0]?.id).toBe('a151');
      expect(again.at(-1)?.id).toBe('a400');
      await bus.close();
    });

    test('a reader that starts at the end gets only what is appended later', async () => {
      const bus = await create();
      await bus.append('requests', 0, records('a', 1, 3));
      const end = await bus.end('requests', 0);
      expect(end).toMatchObject({ position: 3, id: 'a3' });
      const reader = bus.read('requests', 0, end);
      await bus.append('requests', 0, records('b', 1, 1));
      expect((await take(reader, 1)).map(({ id, position }) => ({ id, position }))).toEqual([
        { id: 'b1', position: 4 },
      ]);
      await bus.close();
    });

    test('the end of a log that nobody wrote is its beginning', async () => {
      const bus = await create();
      expect((await bus.end('changes', 3)).position).toBe(0);
      await bus.close();
    });

    test('a cursor past the end of the log is an error: records were lost', async () => {
      const bus = await create();
      await bus.append('changes', 0, records('a', 1, 3));
      const { log } = await bus.end('changes', 0);
      const reader = bus.read('changes', 0, { position: 4, id: 'a4', log });
      await expect(reader.next(1)).rejects.toMatchObject({ code: 'LOG_LOST' });
      await expect(reader.next(1)).rejects.toMatchObject({ code: 'LOG_LOST' });
      await bus.close();
    });

    test('closing a reader ends its waiting with an empty list', async () => {
      const bus = await create();
      const reader = bus.read('changes', 0, origin);
      const waiting = reader.next(1);
      reader.close();
      expect(await waiting).toEqual([]);
      await bus.close();
    });

    test('closing the bus ends all waiting, and later appends are refused', async () => {
      const bus = await create();
      const waiting = bus.read('changes', 0, origin).next(1);
      await bus.close();
      expect(await waiting).toEqual([]);
      await expect(bus.append('changes', 0, records('a', 1, 1))).rejects.toMatchObject({ code: 'BUS_CLOSED' });
    });

    test('a large record passes', async () => {
      const bus = await create();
      const payload = new Uint8Array(900_000).fill(7);
      await bus.append('changes', 0, [{ key: 'k', id: 'large', headers: {}, payload }]);
      const [delivery] = await take(bus.read('changes', 0, origin), 1);
      expect(delivery?.payload.length).toBe(payload.length);
      await bus.close();
    });

    const { maxBacklog } = features;
    test.runIf(maxBacklog !== undefined)(
      'append waits while too much is not released, and goes on when it is',
      async () => {
        const bus = await create();
        const reader = bus.read('changes', 0, origin);
        let appended = false;
        const append = bus.append('changes', 0, records('a', 1, (maxBacklog ?? 0) + 1)).then(() => {
          appended = true;
        });
        await new Promise((resolve) => setImmediate(resolve));
        expect(appended).toBe(false);
        const [first] = await reader.next(1);
        expect(appended).toBe(false);
        reader.release(first?.position ?? 0);
        await append;
        expect(appended).toBe(true);
        await bus.close();
      },
    );
  });
}

function records(prefix: string, from: number, to: number): BusRecord[] {
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    key: prefix,
    id: `${prefix}${from + i}`,
    headers: {},
    payload: new TextEncoder().encode(`${prefix}${from + i}`),
  }));
}

async function take(reader: PartitionReader, count: number): Promise<Delivery[]> {
  const all: Delivery[] = [];
  while (all.length < count) all.push(...(await reader.next(count - all.length)));
  return all;
}

function after({ log }: PartitionReader, delivery: Delivery | undefined): Cursor {
  if (delivery === undefined) throw new Error('nothing was read');
  return { position: delivery.position, id: delivery.id, log };
}
