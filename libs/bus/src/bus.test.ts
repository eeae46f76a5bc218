import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { type PartitionReader, readUntilAborted, streamStart } from './bus.ts';
import { MemoryBus } from './memory-bus.ts';

const aReader = () => new MemoryBus({ partitions: 1 }).read('changes', 0, streamStart);
const readOnce = (reader: PartitionReader) => reader.next(1);

test('a waiting reader returns no records once the signal aborts', async () => {
  const stop = new AbortController();
  const reading = readUntilAborted(aReader(), stop.signal, readOnce);
  stop.abort();
  expect(await reading).toEqual([]);
});

test('a reader does not wait if the signal has already aborted', async () => {
  expect(await readUntilAborted(aReader(), AbortSignal.abort(), readOnce)).toEqual([]);
});

test('the reader is closed and the abort listener removed, even if the work fails', async () => {
  const stop = new AbortController();
  const reader = aReader();
  const failing = () => Promise.reject(new Error('work failed'));
  await expect(readUntilAborted(reader, stop.signal, failing)).rejects.toThrow('work failed');
  expect(await reader.next(1)).toEqual([]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
