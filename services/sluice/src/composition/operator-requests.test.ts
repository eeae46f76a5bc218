import { MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage, partitionOf } from '@sluice/messages';
import type { DeadLetter } from '@sluice/store';
import { expect, test } from 'vitest';
import { replayDeadLetter, requestClusterResync } from './operator-requests.ts';

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

test('replay appends to the partition that its Service has now, under a new id', async () => {
  const bus = new MemoryBus({ partitions: 4 });
  await replayDeadLetter(bus, letter());
  const partition = partitionOf('uid/shop/web', 4);
  expect(partition).not.toBe(letter().partition);
  const [record] = await bus.read('changes', partition, streamStart).next(1);
  expect(record).toMatchObject({ id: 'r/replayed/7', key: 'uid/shop/web', headers: { traceparent: '00-1' } });
  const ofCluster = { ...letter().record, key: 'uid' };
  await expect(replayDeadLetter(bus, letter({ partition: 9, record: ofCluster }))).rejects.toThrow(
    'no partition 9 of topic changes',
  );
  await expect(replayDeadLetter(bus, letter({ topic: 'other' }))).rejects.toThrow('of topic other');
});

test('a resync of a cluster is requested for every partition', async () => {
  const bus = new MemoryBus({ partitions: 2 });
  await requestClusterResync(bus, 'uid', 'permitted again');
  const records = await bus.read('requests', 0, streamStart).next(10);
  expect(records.map(({ payload }) => decodeMessage(payload))).toEqual(
    [0, 1].map((partition) => ({ kind: 'resync', scope: { partition, cluster: 'uid' }, reason: 'permitted again' })),
  );
});
