import { expect, test } from 'vitest';
import { boundedSize, recordHeaders, toDelivery } from './record-message.ts';

const record = { key: 'k', id: 'x', headers: { traceparent: '00-1' }, payload: new Uint8Array(1000) };

test('a record survives the round trip through a message', () => {
  expect(toDelivery(3, recordHeaders(record), record.payload)).toEqual({ ...record, offset: 3 });
});

test('excludes the headers of NATS from the record', () => {
  const headers = recordHeaders(record);
  headers.set('Nats-Msg-Size', '3');
  expect(toDelivery(1, headers, record.payload).headers).toEqual(record.headers);
});

test.each([
  ['a value with a line break', { headers: { a: 'one\r\ntwo' } }],
  ['a name with a line break', { headers: { 'a\r\nb': 'one' } }],
  ['an instruction to the server', { headers: { 'nats-rollup': 'all' } }],
  ['a key with a line break', { key: 'c/shop/web\nSluice-Key: c/shop/forged' }],
  ['an id with a line break', { id: 'x\ry' }],
])('rejects %s', (_, given) => {
  expect(boundedSize({ ...record, ...given }, 1_048_576)).toBe('a header has a line break or a reserved name');
});

test('counts headers towards the size of a record', () => {
  expect(boundedSize(record, 900)).toMatch(
    /^1\d{3} bytes with its headers exceed max_payload of the NATS server \(900\)$/,
  );
  expect(boundedSize({ ...record, headers: { a: 'ä'.repeat(1000) } }, 3000)).toMatch(/max_payload/);
  // Within the limit, although the upper bound of three bytes per character is not.
  expect(boundedSize({ ...record, headers: { a: 'a'.repeat(1000) } }, 3000)).toBeLessThanOrEqual(3000);
});

test('rejects headers that JetStream does not store, however small the record is', () => {
  expect(boundedSize({ ...record, id: 'x'.repeat(70_000) }, 1_048_576)).toMatch(
    /^7\d{4} bytes of headers exceed 65535$/,
  );
  expect(boundedSize({ ...record, id: 'x'.repeat(60_000) }, 1_048_576)).toBeLessThan(1_048_576);
});
