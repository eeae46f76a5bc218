import { MessageRecord } from '@sluice/messages';
import { expect, test } from 'vitest';
import { decided, done, pod, podChange, service, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { keep, read } from './kept-record.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const slice = sliceOf('web-1', { version: '', ready: true });
const messages = [
  snapshot(1, 1_000, [service(), pod('web-1', {})]),
  podChange(2, 5_000, pod('web-1', { ready: false })),
  decided(1, 1_010, [{ verb: 'create', object: slice }]),
  done(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
];

test('a message that was made here is kept as it is: nobody makes bytes of it', () => {
  for (const message of messages) {
    const record = new MessageRecord({ key: 'c/shop/web', id: 'any', headers: { traceparent } }, message);
    Object.defineProperty(record, 'payload', { get: () => expect.unreachable('encoded') });
    const kept = keep(record, 7);
    expect(kept).toMatchObject({ keptAt: 7, traceparent });
    expect(read(kept)).toBe(message);
  }
});

test('bytes are kept as they came, and read when somebody looks', () => {
  for (const message of messages) {
    const record = toAppend(message);
    const kept = keep(record, 0);
    expect(kept.content).toBe(record.payload);
    expect(kept.size).toBe(record.payload.length);
    expect(read(kept)).toMatchObject({ kind: message.kind, key: message.key });
  }
  expect(read(keep({ ...toAppend(messages[0] as never), payload: new TextEncoder().encode('{') }, 0))).toBeUndefined();
});

test('a message counts for what is in it', () => {
  const sizeWith = (endpoints: number) => {
    const object = { ...slice, endpoints: Array.from({ length: endpoints }, () => slice.endpoints?.[0]) };
    const message = decided(1, 0, [{ verb: 'create', object: object as typeof slice }]);
    const bytes = toAppend(message).payload.length;
    const { size } = keep(new MessageRecord({ key: 'c/shop/web', id: 'any', headers: {} }, message), 0);
    return { size, bytes };
  };
  for (const endpoints of [1, 10, 100, 1_000]) {
    const { size, bytes } = sizeWith(endpoints);
    expect(size / bytes, `${endpoints} endpoints`).toBeGreaterThan(1);
    expect(size / bytes, `${endpoints} endpoints`).toBeLessThan(4);
  }
});
