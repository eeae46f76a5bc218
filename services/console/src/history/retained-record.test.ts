import { MessageRecord } from '@sluice/messages';
import { expect, test } from 'vitest';
import { anOutcome, aPlan, pod, podChange, service, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { messageOf, retain } from './retained-record.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const slice = sliceOf('web-1', { version: '', ready: true });
const messages = [
  snapshot(1, 1_000, [service(), pod('web-1', {})]),
  podChange(2, 5_000, pod('web-1', { ready: false })),
  aPlan(1, 1_010, [{ verb: 'create', object: slice }]),
  anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
];

test('retains a message of this process without encoding it', () => {
  for (const message of messages) {
    const record = new MessageRecord({ key: 'c/shop/web', id: 'any', headers: { traceparent } }, message);
    Object.defineProperty(record, 'payload', { get: () => expect.unreachable('encoded') });
    const retained = retain(record, 7);
    expect(retained).toMatchObject({ receivedAt: 7, traceparent });
    expect(messageOf(retained)).toBe(message);
  }
});

test('retains encoded records and decodes them on demand', () => {
  for (const message of messages) {
    const record = toAppend(message);
    const retained = retain(record, 0);
    expect(retained.content).toBe(record.payload);
    expect(retained.size).toBe(record.payload.length);
    expect(messageOf(retained)).toMatchObject({ kind: message.kind, key: message.key });
  }
  expect(
    messageOf(retain({ ...toAppend(messages[0] as never), payload: new TextEncoder().encode('{') }, 0)),
  ).toBeUndefined();
});

test('estimates the size of a message from its content', () => {
  const sizeWith = (endpoints: number) => {
    const object = { ...slice, endpoints: Array.from({ length: endpoints }, () => slice.endpoints?.[0]) };
    const message = aPlan(1, 0, [{ verb: 'create', object: object as typeof slice }]);
    const bytes = toAppend(message).payload.length;
    const { size } = retain(new MessageRecord({ key: 'c/shop/web', id: 'any', headers: {} }, message), 0);
    return { size, bytes };
  };
  for (const endpoints of [1, 10, 100, 1_000]) {
    const { size, bytes } = sizeWith(endpoints);
    expect(size / bytes, `${endpoints} endpoints`).toBeGreaterThan(1);
    expect(size / bytes, `${endpoints} endpoints`).toBeLessThan(4);
  }
});
