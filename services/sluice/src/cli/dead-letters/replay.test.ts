import { MemoryBus, streamStart } from '@sluice/bus';
import type { DeadLetter } from '@sluice/store';
import { expect, test } from 'vitest';
import { replayDeadLetter } from './replay.ts';

const letter = (given: Partial<DeadLetter> = {}): DeadLetter => ({
  name: 'changes/3/7',
  topic: 'changes',
  partition: 3,
  offset: 7,
  deadLetteredAt: 0,
  reason: 'not JSON',
  record: { id: 'r', key: 'uid/shop/web', headers: { traceparent: '00-1' }, payload: Uint8Array.of(1) },
  ...given,
});

test('replay appends to the original partition under a new id', async () => {
  const bus = new MemoryBus({ partitions: 4 });
  await replayDeadLetter(bus, letter());
  const [record] = await bus.read('changes', 3, streamStart).next(1);
  expect(record).toMatchObject({ id: 'r/replayed/7', key: 'uid/shop/web', headers: { traceparent: '00-1' } });
  await expect(replayDeadLetter(bus, letter({ partition: 9 }))).rejects.toThrow('no partition 9 of topic changes');
  await expect(replayDeadLetter(bus, letter({ topic: 'other' }))).rejects.toThrow('no partition 3 of topic other');
});
