import { type Fact, type Message, MessageRecord } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { someEndpoints } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  endpointsFact,
  pod,
  podChange,
  service,
  sliceFact,
  sliceOf,
  snapshot,
  toAppend,
} from '../testing/records.ts';
import { messageOf, retain, sizeOf } from './retained-record.ts';

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
    expect(sizeOf(retained, new WeakSet())).toBe(record.payload.length);
    expect(messageOf(retained)).toMatchObject({ kind: message.kind, key: message.key });
  }
  expect(
    messageOf(retain({ ...toAppend(messages[0] as never), payload: new TextEncoder().encode('{') }, 0)),
  ).toBeUndefined();
});

const sizeOfMessage = (content: Message) => sizeOf({ content, receivedAt: 0 }, new WeakSet());

test('estimates the size of a message from its content', () => {
  const sizeWith = (endpoints: number) => {
    const object = { ...slice, endpoints: Array.from({ length: endpoints }, () => slice.endpoints?.[0]) };
    const message = aPlan(1, 0, [{ verb: 'create', object: object as typeof slice }]);
    const bytes = toAppend(message).payload.length;
    return { size: sizeOfMessage(message), bytes };
  };
  for (const endpoints of [1, 10, 100, 1_000]) {
    const { size, bytes } = sizeWith(endpoints);
    expect(size / bytes, `${endpoints} endpoints`).toBeGreaterThan(1);
    expect(size / bytes, `${endpoints} endpoints`).toBeLessThan(4);
  }
});

describe('the estimated size of a message', () => {
  const slices = (count: number) => ({
    ...slice,
    endpoints: Array.from({ length: count }, () => ({ addresses: ['a'] })),
  });
  const addresses = (count: number) => {
    const ips = Array.from({ length: count }, () => ({ ip: '10.0.0.1' }));
    return someEndpoints({ subsets: [{ addresses: ips.slice(1), notReadyAddresses: ips.slice(0, 1) }] });
  };
  const change = (...facts: Fact[]) => sizeOfMessage(podChange(2, 0, ...facts));
  const endpoints = (count: number) => endpointsFact('1', { endpoints: addresses(count) });
  const plan = (object: EndpointSlice) => sizeOfMessage(aPlan(1, 0, [{ verb: 'create', object }]));
  const outcome = anOutcome(1, 0, 0, [{ verb: 'create', version: '1' }]);
  const readBack = (current: EndpointSlice) =>
    sizeOfMessage({ ...outcome, results: outcome.results.map((one) => ({ ...one, current })) });

  test.each<[string, (count: number) => number]>([
    ['slices of a Change', (count) => change(sliceFact(slices(count)))],
    ['Endpoints of a Change', (count) => change(endpoints(count))],
    ['slices of a plan', (count) => plan(slices(count))],
    ['slices that were read back', (count) => readBack(slices(count))],
  ])('grows with the endpoints in %s', (_, size) => {
    const perEndpoint = size(2) - size(1);
    expect(perEndpoint).toBeGreaterThan(100);
    expect(size(11) - size(1)).toBe(10 * perEndpoint);
    expect(size(1)).toBe(change(sliceFact(slices(1))));
  });

  test('grows with each object, also one that is deleted or whose content is not kept', () => {
    const perObject = change(pod('a', {})) - change();
    expect(perObject).toBeGreaterThan(100);
    expect(change(pod('a', {}), service(), sliceFact(null), endpointsFact(null)) - change()).toBe(4 * perObject);
    const deletion = { verb: 'delete', resource: 'endpointslices', name: 'web-a', uid: 'a' } as const;
    const two = { ...aPlan(1, 0, []), groups: [{ mutations: [deletion] }, { mutations: [deletion] }] };
    expect(sizeOfMessage(two)).toBe(change() + 2 * perObject);
    expect(sizeOfMessage(outcome)).toBe(change() + perObject);
    expect(sizeOfMessage({ kind: 'clusterRemoved', cluster: 'c', epoch: 1, removedAt: 1 })).toBe(change());
  });
});
