import { randomBytes } from 'node:crypto';
import { type Bus, NetworkedBus, rejectionOf, streamStart } from '@sluice/bus';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { expect, test } from 'vitest';
import { after, ids, records, take } from './bus-records.ts';
import type { BusFeatures } from './bus-under-test.ts';

/** The part of the contract of the bus port about limits: of records, of messages, and of records that no reader has released. */
export function busLimitsContract(features: BusFeatures, create: () => Promise<Bus>): void {
  test.runIf(features.limited === true)(
    'accepts a record of the maximum size and rejects a larger one, but not the records beside it',
    async () => {
      const bus = await create();
      const { recordBytes, messageBytes } = bus.limits;
      expect(recordBytes).toBeGreaterThan(0);
      expect(messageBytes).toBeGreaterThanOrEqual(recordBytes);
      const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
      const sized = (id: string, bytes: number) => ({
        key: 'k'.repeat(500),
        id,
        headers,
        payload: Buffer.alloc(bytes),
      });
      const tooLarge = bus.append('changes', 0, [
        ...records('a', 1, 2),
        sized('large', recordBytes + 1),
        sized('b', 1),
      ]);
      await expect(tooLarge).rejects.toMatchObject({ code: 'RECORD_REJECTED', offsets: [1, 2] });
      await bus.append('changes', 0, [sized('largest', recordBytes), ...records('c', 1, 1)]);
      const read = await take(bus.read('changes', 0, streamStart), 4);
      expect(ids(read)).toEqual(['a1', 'a2', 'largest', 'c1']);
      expect(read[2]?.payload.length).toBe(recordBytes);
      await bus.close();
    },
  );

  test.runIf(features.countsHeaders === true)(
    'a record whose headers alone exceed the limit leaves a marker',
    async () => {
      const bus = new NetworkedBus(await create(), { clock: systemClock, logger: silentLogger });
      const hostile = {
        key: 'c/shop/web',
        id: 'x'.repeat(2 * bus.limits.recordBytes),
        headers: {},
        payload: Buffer.of(),
      };
      expect(await bus.append('changes', 0, [...records('a', 1, 1), hostile, ...records('b', 1, 1)])).toEqual([
        1, 2, 3,
      ]);
      const read = await take(bus.read('changes', 0, streamStart), 3);
      expect(read.map(rejectionOf)).toEqual([undefined, expect.stringMatching(/headers/), undefined]);
      expect(read[1]).toMatchObject({ key: hostile.key, id: expect.stringMatching(/^sha256:/) });
      await bus.close();
    },
  );

  test.runIf(features.limited === true)('delivers a message larger than a record in chunks', async () => {
    const bus = new NetworkedBus(await create(), { clock: systemClock, logger: silentLogger });
    const { recordBytes } = bus.limits;
    const payload = randomBytes(Math.min(bus.limits.messageBytes, 2 * recordBytes + 1));
    await bus.append('mutations', 0, [{ key: 'k', id: 'large', headers: { h: 'v' }, payload }, ...records('a', 1, 1)]);
    const reader = bus.read('mutations', 0, streamStart);
    const [large, next] = await take(reader, 2);
    expect(large).toMatchObject({ key: 'k', id: 'large', headers: { h: 'v' } });
    expect(Buffer.compare(large?.payload ?? Buffer.of(), payload)).toBe(0);
    expect(next?.id).toBe('a1');
    const continued = bus.read('mutations', 0, after(reader, large));
    expect(ids(await take(continued, 1))).toEqual(['a1']);
    await bus.close();
  });

  const { maxBacklog } = features;
  test.runIf(maxBacklog !== undefined)(
    'append waits while too many records are unreleased, and continues after a release',
    async () => {
      const bus = await create();
      const reader = bus.read('changes', 0, streamStart);
      let appended = false;
      const append = bus.append('changes', 0, records('a', 1, (maxBacklog ?? 0) + 1)).then(() => {
        appended = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(appended).toBe(false);
      const [first] = await reader.next(1);
      expect(appended).toBe(false);
      reader.release(first?.offset ?? 0);
      await append;
      expect(appended).toBe(true);
      await bus.close();
    },
  );
}
