import type { BusRecord } from '@sluice/bus';
import { expect, test } from 'vitest';
import { joined } from './joined.ts';

const text = (payload: Uint8Array): string => Buffer.from(payload).toString();
const record = (id: string, payload: string, headers = {}): BusRecord => ({
  ...{ key: 'c/shop/web', id, headers, payload: Buffer.from(payload) },
});
const chunk = (id: string, payload: string) => record(id, payload, { 'Sluice-Chunk': '0/2/9/9', 'Sluice-Kind': 'x' });

test('chunks that are sent together are one message, with the id of the last one', () => {
  const records = [
    record('a', '1'),
    chunk('b/chunk/9/0-2', '2'),
    chunk('b', '3'),
    chunk('c/chunk/9/0-2', '4'),
    chunk('c', '5'),
  ];
  expect(joined(records).map(({ id, payload }) => [id, text(payload)])).toEqual([
    ['a', '1'],
    ['b', '23'],
    ['c', '45'],
  ]);
  expect(joined(records)[1]?.headers).toEqual({ 'Sluice-Kind': 'x' });
});

test('chunks without the last one are no message', () => {
  expect(joined([chunk('b/chunk/9/0-2', '2')])).toEqual([]);
});
