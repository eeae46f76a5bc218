import { describe, expect, test } from 'vitest';
import { essence } from './essence.ts';

const slice = {
  metadata: { name: 'web-x', labels: { a: '1', b: '2' }, annotations: {}, resourceVersion: '7' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }],
  ports: [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: '', port: 81, protocol: 'UDP' },
  ],
};

describe('the essence of a write', () => {
  test('is the same with other order of keys, defaults left out and metadata that the server adds', () => {
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
    expect(essence('endpointslices', logged)).toBe(essence('endpointslices', slice));
  });

  test.each([
    ['a condition', { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] }],
    ['an endpoint less', { endpoints: [] }],
    ['a port', { ports: [{ name: 'http', port: 8080 }] }],
    ['a protocol', { ports: [{ name: 'http', port: 80 }, { port: 81 }] }],
    ['a label', { metadata: { labels: { a: '1' } } }],
    ['an annotation', { metadata: { ...slice.metadata, annotations: { x: 'y' } } }],
  ])('is another with %s', (_, change) => {
    expect(essence('endpointslices', { ...slice, ...change })).not.toBe(essence('endpointslices', slice));
  });

  test('of Endpoints is in their subsets', () => {
    const endpoints = (ip: string) => ({ metadata: {}, subsets: [{ addresses: [{ ip }], notReadyAddresses: null }] });
    expect(essence('endpoints', endpoints('10.0.0.1'))).toBe(
      essence('endpoints', { metadata: {}, subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }),
    );
    expect(essence('endpoints', endpoints('10.0.0.1'))).not.toBe(essence('endpoints', endpoints('10.0.0.2')));
  });
});
