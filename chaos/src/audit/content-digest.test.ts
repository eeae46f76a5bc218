import { describe, expect, test } from 'vitest';
import { contentDigest } from './content-digest.ts';

const slice = {
  metadata: { name: 'web-x', labels: { a: '1', b: '2' }, annotations: {}, resourceVersion: '7' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }],
  ports: [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: '', port: 81, protocol: 'UDP' },
  ],
};

describe('the content digest of a write', () => {
  test('ignores the order of keys, defaults and metadata set by the server', () => {
    const logged = {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { name: 'web-x', labels: { b: '2', a: '1' }, creationTimestamp: null, uid: 'u' },
      addressType: 'IPv4',
      endpoints: [{ conditions: { ready: false }, addresses: ['10.0.0.1'], nodeName: null }],
      ports: [
        { port: 80, name: 'http' },
        { port: 81, protocol: 'UDP' },
      ],
    };
    expect(contentDigest('endpointslices', logged)).toBe(contentDigest('endpointslices', slice));
  });

  test.each([
    ['a condition', { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] }],
    ['an endpoint removed', { endpoints: [] }],
    ['a port', { ports: [{ name: 'http', port: 8080 }] }],
    ['a protocol', { ports: [{ name: 'http', port: 80 }, { port: 81 }] }],
    ['a label', { metadata: { labels: { a: '1' } } }],
    ['an annotation', { metadata: { ...slice.metadata, annotations: { x: 'y' } } }],
  ])('differs with %s', (_, change) => {
    expect(contentDigest('endpointslices', { ...slice, ...change })).not.toBe(contentDigest('endpointslices', slice));
  });

  test('covers the subsets of Endpoints', () => {
    const endpoints = (ip: string) => ({ metadata: {}, subsets: [{ addresses: [{ ip }], notReadyAddresses: null }] });
    expect(contentDigest('endpoints', endpoints('10.0.0.1'))).toBe(
      contentDigest('endpoints', { metadata: {}, subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }),
    );
    expect(contentDigest('endpoints', endpoints('10.0.0.1'))).not.toBe(
      contentDigest('endpoints', endpoints('10.0.0.2')),
    );
  });
});
