import type { EndpointSlice, Endpoints } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { aSlice } from '../testing/plans.ts';
import { equalContent } from './find-competing-write.ts';

const wanted = aSlice('a');
const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u' } as const;
const withMetadata = (slice: EndpointSlice, metadata: object): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, ...metadata },
});

describe('a stored object has the wanted content', () => {
  test.each<[string, EndpointSlice]>([
    ['if it is the same', aSlice('a')],
    ['whatever the API server has set', aSlice('a', 55)],
    ['if others have added to its metadata', withMetadata(wanted, { labels: { ...wanted.metadata.labels, x: 'y' } })],
    ['if the API server has added a default', { ...wanted, ports: [{ ...wanted.ports?.[0], appProtocol: 'http' }] }],
  ])('%s', (_, stored) => {
    expect(equalContent(wanted, stored)).toBe(true);
  });

  test('if it has nothing where nothing is wanted', () => {
    const empty: Endpoints = { metadata: { name: 'web', namespace: 'shop' }, subsets: null };
    expect(equalContent(empty, { metadata: empty.metadata })).toBe(true);
    expect(equalContent({ metadata: empty.metadata }, empty)).toBe(true);
    expect(equalContent({ metadata: empty.metadata, subsets: [] }, empty)).toBe(true);
    expect(equalContent(empty, { metadata: empty.metadata, subsets: [] })).toBe(true);
  });

  test('if it has the wanted annotations and owners', () => {
    const metadata = { annotations: { a: '1' }, ownerReferences: [owner] };
    const more = { annotations: { a: '1', b: '2' }, ownerReferences: [owner] };
    expect(equalContent(withMetadata(wanted, metadata), withMetadata(wanted, more))).toBe(true);
  });
});

describe('a stored object has other content', () => {
  test.each<[string, EndpointSlice]>([
    ['an endpoint less', { ...wanted, endpoints: [] }],
    ['no endpoints', { ...wanted, endpoints: null }],
    ['an endpoint more', { ...wanted, endpoints: [...(wanted.endpoints ?? []), ...(wanted.endpoints ?? [])] }],
    ['another address', { ...wanted, endpoints: [{ addresses: ['10.1.0.2'], conditions: { ready: true } }] }],
    ['another condition', { ...wanted, endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }] }],
    ['no condition', { ...wanted, endpoints: [{ addresses: ['10.1.0.1'], conditions: {} }] }],
    ['another address type', { ...wanted, addressType: 'IPv6' }],
    ['no label', withMetadata(wanted, { labels: undefined })],
  ])('with %s', (_, stored) => {
    expect(equalContent(wanted, stored)).toBe(false);
  });

  test.each([{ annotations: { a: '1' } }, { ownerReferences: [owner] }])('without the wanted %j', (metadata) => {
    expect(equalContent(withMetadata(wanted, metadata), wanted)).toBe(false);
  });
});
