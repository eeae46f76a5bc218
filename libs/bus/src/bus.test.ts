import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { type PartitionReader, readUntilAborted, recordId, streamStart } from './bus.ts';
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

test('joins the parts of an id', () => {
  expect(recordId('c/shop/web', 'endpointslice', 3, 17)).toBe('c/shop/web/endpointslice/3/17');
});

test('every name that Kubernetes accepts stays readable', () => {
  const key = [`${'u'.repeat(128)}`, 'n'.repeat(63), 's'.repeat(253)].join('/');
  expect(recordId(key, 'endpoints', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toContain(key);
});

test.each([
  ['too long', 'x'.repeat(100_000)],
  ['with a line break', 'a\r\nSluice-Key: forged'],
  ['with a space', 'a b'],
  ['with a control character', '\u0000'],
  ['outside ASCII', 'ü'],
])('an id %s becomes a hash, the same each time', (_, part) => {
  const id = recordId(part, 1);
  expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(recordId(part, 1)).toBe(id);
  expect(recordId(part, 2)).not.toBe(id);
});
