import { expect, test } from 'vitest';
import { checkSize, recordHeaders, toDelivery } from './record-message.ts';

const record = { key: 'k', id: 'x', headers: { traceparent: '00-1' }, payload: new Uint8Array(1000) };

test('a record comes out of its message as it went in', () => {
  expect(toDelivery(3, recordHeaders(record), record.payload)).toEqual({ ...record, offset: 3 });
});

test("the server's own headers are not the record's", () => {
  const headers = recordHeaders(record);
  headers.set('Nats-Batch-Id', 'b');
  headers.set('Nats-Expected-Last-Msg-Id', 'w');
  expect(toDelivery(1, headers, record.payload).headers).toEqual(record.headers);
});

test('a header of two lines is refused', () => {
  expect(() => recordHeaders({ ...record, headers: { a: 'one\r\ntwo' } })).toThrow(/cannot contain/);
});

test('what does not fit with its headers is too large, and what does is not', () => {
  expect(() => checkSize(record, 900)).toThrow(/1\d{3} bytes with its headers; the NATS server takes 900/);
  expect(() => checkSize({ ...record, headers: { a: 'ä'.repeat(1000) } }, 3000)).toThrow(/max_payload/);
  // Three bytes for each character would be too much, but these have one.
  expect(() => checkSize({ ...record, headers: { a: 'a'.repeat(1000) } }, 3000)).not.toThrow();
});
