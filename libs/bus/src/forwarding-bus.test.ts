import { expect, test } from 'vitest';
import { type Delivery, streamStart } from './bus.ts';
import { ObservedBus } from './forwarding-bus.ts';
import { MemoryBus } from './memory-bus.ts';

const record = (id: string) => ({ key: 'c/ns/svc', id, headers: {}, payload: new Uint8Array() });

test('a batch is returned once it was observed', async () => {
  const observed: string[] = [];
  const waiting = Promise.withResolvers<void>();
  const bus = new ObservedBus(new MemoryBus({ partitions: 1 }), async (deliveries: readonly Delivery[]) => {
    observed.push(...deliveries.map(({ id }) => id));
    await waiting.promise;
  });
  await bus.append('changes', 0, [record('a'), record('b')]);
  const reader = bus.read('changes', 0, streamStart);
  let returned = false;
  const next = reader.next(10).then((deliveries) => {
    returned = true;
    return deliveries;
  });
  await expect.poll(() => observed).toEqual(['a', 'b']);
  expect(returned).toBe(false);
  waiting.resolve();
  expect((await next).map(({ id }) => id)).toEqual(['a', 'b']);
  reader.close();
  await bus.close();
});
