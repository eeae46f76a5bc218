import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { type PartitionReader, streamStart } from './bus.ts';
import { MemoryBus } from './memory-bus.ts';
import { readUntilAborted } from './read-until-aborted.ts';

const aReader = () => new MemoryBus({ partitions: 1 }).read('changes', 0, streamStart);
const readOnce = (reader: PartitionReader) => reader.next(1);

test('whoever waits for records gets none once the signal aborts', async () => {
  const stop = new AbortController();
  const reading = readUntilAborted(aReader(), stop.signal, readOnce);
  stop.abort();
  expect(await reading).toEqual([]);
});

test('a signal that has aborted before lets nobody wait', async () => {
  expect(await readUntilAborted(aReader(), AbortSignal.abort(), readOnce)).toEqual([]);
});

test('afterwards the reader is closed and the signal let go, also when the work fails', async () => {
  const stop = new AbortController();
  const reader = aReader();
  const failing = () => Promise.reject(new Error('no'));
  await expect(readUntilAborted(reader, stop.signal, failing)).rejects.toThrow('no');
  expect(await reader.next(1)).toEqual([]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
