import { describe, expect, it } from 'vitest';
import { rawEndpoints, rawSlice, withValueAt } from '../testing/raw-objects.ts';
import { projectEndpointSlice, projectEndpoints } from './written-objects.ts';

/** Endpoints and EndpointSlices keep their API shape. What the controllers rely on is completed as Go does. */

const endpointsWith = (path: string, value: unknown) => projectEndpoints(withValueAt(rawEndpoints, path, value));
const sliceWith = (path: string, value: unknown) => projectEndpointSlice(withValueAt(rawSlice, path, value));

describe.each([
  ['missing', undefined],
  ['null', null],
])('of a field that is %s', (_, absent) => {
  it('metadata has nothing, except that the namespace is empty', () => {
    const fields = ['uid', 'resourceVersion', 'generation', 'generateName', 'creationTimestamp', 'deletionTimestamp'];
    for (const field of [...fields, 'labels', 'annotations', 'ownerReferences', 'finalizers']) {
      const { metadata } = endpointsWith(`metadata.${field}`, absent);
      const { [field as 'uid']: _absent, ...others } = rawEndpoints.metadata;
      expect(metadata).toStrictEqual(others);
    }
    expect(endpointsWith('metadata.namespace', absent).metadata.namespace).toBe('');
  });

  it('an address has an empty text, a port the number zero, and an owner empty texts', () => {
    expect(endpointsWith('subsets[0].addresses[0].ip', absent).subsets?.[0]?.addresses?.[0]?.ip).toBe('');
    expect(endpointsWith('subsets[0].ports[0].port', absent).subsets?.[0]?.ports?.[0]?.port).toBe(0);
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      const { metadata } = endpointsWith(`metadata.ownerReferences[0].${field}`, absent);
      expect(metadata.ownerReferences?.[0]).toStrictEqual({ ...rawSlice.metadata.ownerReferences[0], [field]: '' });
    }
  });

  it('an endpoint has nothing, except that its addresses are empty', () => {
    const [endpoint] = rawSlice.endpoints;
    const fields = ['conditions', 'hostname', 'nodeName', 'zone', 'targetRef', 'deprecatedTopology', 'hints'];
    for (const field of fields) {
      const { [field as 'zone']: _absent, ...others } = endpoint ?? expect.unreachable('no endpoint');
      expect(sliceWith(`endpoints[0].${field}`, absent).endpoints).toStrictEqual([others]);
    }
    expect(sliceWith('endpoints[0].addresses', absent).endpoints).toStrictEqual([{ ...endpoint, addresses: [] }]);
    expect(sliceWith('endpoints', absent).endpoints).toEqual([]);
  });
});

it.each([
  ['endpoints[0].conditions', 'ready', 'serving', 'terminating'],
  ['endpoints[0].targetRef', 'kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'],
  ['endpoints[0].hints', 'forZones', 'forNodes'],
  ['ports[0]', 'name', 'protocol', 'port', 'appProtocol'],
])('a null field of %s is accepted', (path, ...fields) => {
  for (const field of fields) expect(() => sliceWith(`${path}.${field}`, null)).not.toThrow();
});

it('lists of Endpoints and ports of a slice are null or missing as in the API', () => {
  expect(endpointsWith('subsets', null).subsets).toBeNull();
  expect(endpointsWith('subsets', undefined)).not.toHaveProperty('subsets');
  for (const field of ['addresses', 'notReadyAddresses', 'ports']) {
    const [subset] = endpointsWith(`subsets[0].${field}`, null).subsets ?? [];
    expect(subset).toStrictEqual({ ...rawEndpoints.subsets[0], [field]: null });
  }
  expect(sliceWith('ports', null).ports).toBeNull();
  expect(sliceWith('ports', undefined)).not.toHaveProperty('ports');
});

it('a null item of a list or map reads as an empty one', () => {
  expect(endpointsWith('subsets[0]', null).subsets).toEqual([{}]);
  expect(endpointsWith('subsets[0].addresses[0]', null).subsets?.[0]?.addresses).toEqual([{ ip: '' }]);
  expect(endpointsWith('subsets[0].ports[0]', null).subsets?.[0]?.ports).toEqual([{ port: 0 }]);
  expect(endpointsWith('metadata.labels["app"]', null).metadata.labels).toEqual({ app: '' });
  expect(endpointsWith('subsets[1]', null).subsets).toEqual([rawEndpoints.subsets[0], {}]);
  expect(sliceWith('endpoints[0].addresses[0]', null).endpoints?.[0]?.addresses).toEqual(['']);
  expect(sliceWith('endpoints[0].addresses[1]', null).endpoints?.[0]?.addresses).toEqual(['10.0.0.1', '']);
  expect(sliceWith('endpoints[0]', null).endpoints).toEqual([{ addresses: [] }]);
});

it('metadata has no managedFields (A8)', () => {
  expect(endpointsWith('metadata.managedFields', [{ manager: 'x' }])).toEqual(rawEndpoints);
});
