import { expect, test } from 'vitest';
import { checkSize, recordHeaders, toDelivery } from './record-message.ts';

const record = { key: 'k', id: 'x', headers: { traceparent: '00-1' }, payload: new Uint8Array(1000) };

test('a record survives the round trip through a message', () => {
  expect(toDelivery(3, recordHeaders(record), record.payload)).toEqual({ ...record, offset: 3 });
});

test('excludes the headers of NATS from the record', () => {
  const headers = recordHeaders(record);
  headers.set('Nats-Msg-Size', '3');
  expect(toDelivery(1, headers, record.payload).headers).toEqual(record.headers);
});

test('rejects a header with a line break', () => {
  expect(() => recordHeaders({ ...record, headers: { a: 'one\r\ntwo' } })).toThrow(/cannot contain/);
});

test('checks the size of a record including its headers', () => {
  expect(() => checkSize(record, 900)).toThrow(
    /1\d{3} bytes with its headers, more than max_payload of the NATS server \(900\)/,
  );
  expect(() => checkSize({ ...record, headers: { a: 'ä'.repeat(1000) } }, 3000)).toThrow(/max_payload/);
  // Within the limit, although the upper bound of three bytes per character is not.
  expect(() => checkSize({ ...record, headers: { a: 'a'.repeat(1000) } }, 3000)).not.toThrow();
});

test('rejects headers that JetStream does not store, however small the record is', () => {
  expect(() => checkSize({ ...record, id: 'x'.repeat(70_000) }, 1_048_576)).toThrow(
    /^record x{100}… has 7\d{4} bytes of headers, more than 65535$/,
  );
  expect(() => checkSize({ ...record, id: 'x'.repeat(60_000) }, 1_048_576)).not.toThrow();
});
