import type { RawObject, Resource } from '@sluice/kubernetes';
import { describe, expect, test } from 'vitest';
import { malformedPod, rawEndpoints, rawPod, rawService, rawSlice } from './testing/objects.ts';
import { checkIdentity, type DecodedObject, decodeObject } from './watched-objects.ts';

const metadata = { namespace: 'shop', name: 'web-1', resourceVersion: '7', labels: {}, annotations: {} };

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

function decode(resource: Resource, raw: RawObject): { decoded: DecodedObject; reasons: readonly string[] } {
  const reasons: string[] = [];
  return { decoded: decodeObject(resource, raw, (reason) => reasons.push(reason)), reasons };
}

const decodeSlice = (part: object) =>
  decode('endpointslices', { metadata, addressType: 'IPv4', endpoints: [], ...part });

describe('an object from the API server', () => {
  test.each<[Resource, RawObject, object]>([
    ['services', rawService('web', '5'), { selector: { app: 'web' } }],
    ['pods', rawPod('web-1', '5'), { pod: { name: 'web-1', ready: true }, labels: { app: 'web' } }],
    ['nodes', { metadata: { name: 'n1', resourceVersion: '5' } }, { name: 'n1' }],
    ['endpoints', rawEndpoints('web', '5'), { subsets: [] }],
    ['endpointslices', rawSlice('web-x', 'web', '5'), { addressType: 'IPv4', endpoints: [] }],
  ])('of %s is projected', (resource, raw, projected) => {
    const { decoded, reasons } = decode(resource, raw);
    expect(decoded).toMatchObject({ name: expect.any(String), resourceVersion: '5', object: projected });
    expect(decoded.namespace).toBe(resource === 'nodes' ? '' : 'shop');
    expect(reasons).toEqual([]);
  });

  test('nested too deep is malformed and keeps its name', () => {
    const { decoded, reasons } = decodeSlice({ endpoints: [{ addresses: [], future: nested(10_000) }] });
    expect(decoded).toEqual({ namespace: 'shop', name: 'web-1', resourceVersion: '7', object: undefined });
    expect(reasons).toEqual(['shop/web-1: nested deeper than 64 levels']);
  });

  test('with too many values is malformed and keeps its name', () => {
    const { decoded, reasons } = decodeSlice({ future: new Array(1_000_001).fill(0) });
    expect(decoded).toMatchObject({ name: 'web-1', object: undefined });
    expect(reasons).toEqual(['shop/web-1: more than 1000000 values']);
  });

  test('of a slice that is malformed keeps its Service', () => {
    const malformed = (labels: object) => decodeSlice({ metadata: { ...metadata, labels }, endpoints: 'none' }).decoded;
    const manager = { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' };
    const of = { 'kubernetes.io/service-name': 'web' };
    expect(malformed({ ...of, ...manager })).toMatchObject({ object: undefined, service: 'shop/web' });
    expect(malformed(of).service).toBeUndefined();
  });

  test('without a resourceVersion is malformed', () => {
    const { decoded, reasons } = decodeSlice({ metadata: { ...metadata, resourceVersion: undefined } });
    expect(decoded).toMatchObject({ name: 'web-1', resourceVersion: '', object: undefined });
    expect(reasons).toEqual([expect.stringContaining('resourceVersion')]);
  });

  test('with a field of the wrong type is malformed, and the reason names the object once', () => {
    const { decoded, reasons } = decode('pods', malformedPod('web-1', '5'));
    expect(decoded).toEqual({ namespace: 'shop', name: 'web-1', resourceVersion: '5', object: undefined });
    expect(reasons).toHaveLength(1);
    expect(reasons[0]?.split('web-1')).toHaveLength(2);
  });

  test.each<[string, RawObject]>([
    ['without metadata', {}],
    ['whose metadata is null', { metadata: null }],
    ['whose name is no text', { metadata: { name: 7, namespace: {}, resourceVersion: [] } }],
  ])('%s is none', (_, raw) => {
    expect(() => decode('services', raw)).toThrow('metadata.name is not a name of Kubernetes');
  });
});

describe('the field manager of the last write', () => {
  const [early, late] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'];
  const write = (manager: unknown, time: unknown) => ({ manager, operation: 'Update', time });

  test.each<[string, unknown, object]>([
    ['is named', [write('kubectl', early)], { manager: 'kubectl' }],
    ['is the one of the latest time', [write('a', early), write('b', late), write('c', early)], { manager: 'b' }],
    ['counts as an own write if it is Sluice', [write('kubectl', early), write('sluice', late)], { isOwnWrite: true }],
    [
      'is the other one if Sluice wrote in the same second',
      [write('sluice', late), write('a', late)],
      { manager: 'a' },
    ],
    [
      'is the first of several in one second',
      [write('a', late), write('sluice', late), write('b', late)],
      { manager: 'a' },
    ],
    ['is unknown without managed fields', undefined, {}],
    ['is unknown if managed fields are no list', { 0: write('a', early) }, {}],
    [
      'ignores entries without a manager or a time',
      [null, write(1, late), write('x', 7), write('a', early)],
      { manager: 'a' },
    ],
  ])('%s', (_, managedFields, expected) => {
    for (const resource of ['endpointslices', 'endpoints'] as const) {
      const raw = resource === 'endpoints' ? rawEndpoints('web', '5') : rawSlice('web-x', 'web', '5');
      const { decoded } = decode(resource, { ...raw, metadata: { ...(raw.metadata as object), managedFields } });
      const { namespace: _namespace, name: _name, resourceVersion: _version, object: _object, ...writer } = decoded;
      expect(writer).toEqual(expected);
    }
  });

  test('is not read from objects that Sluice does not write', () => {
    const raw = rawPod('web-1', '5');
    const managedFields = [write('kubelet', early)];
    const { decoded } = decode('pods', { ...raw, metadata: { ...(raw.metadata as object), managedFields } });
    expect(decoded.manager).toBeUndefined();
    expect(decoded.object).toBeDefined();
  });
});

const object = { namespace: 'shop', name: 'web', resourceVersion: '7', uid: 'u-1', labels: {} };

test.each<[string, Parameters<typeof checkIdentity>[0], object]>([
  ['a Pod of 253 characters', 'pods', { name: `a.${'b'.repeat(251)}` }],
  ['a Node, which has no namespace', 'nodes', { namespace: '' }],
  ['an object without a uid', 'endpoints', { uid: undefined }],
])('%s is accepted', (_, resource, given) => {
  expect(() => checkIdentity(resource, { ...object, ...given })).not.toThrow();
});

test.each<[string, Parameters<typeof checkIdentity>[0], object, string]>([
  ['a long name', 'services', { name: 'a'.repeat(254) }, 'metadata.name has 254 characters, more than 253'],
  ['a longer name', 'pods', { name: 'a'.repeat(40_000) }, 'metadata.name has 40000 characters, more than 253'],
  ['a long namespace', 'pods', { namespace: 'a'.repeat(64) }, 'metadata.namespace has 64 characters, more than 63'],
  ['no name', 'nodes', { name: '' }, 'metadata.name is not a name of Kubernetes'],
  ['no namespace', 'services', { namespace: '' }, 'metadata.namespace is not a name of Kubernetes'],
  ['a line break', 'services', { name: 'web\r\nX: y' }, 'metadata.name is not a name of Kubernetes'],
  ['a slash', 'services', { name: 'shop/web' }, 'metadata.name is not a name of Kubernetes'],
  ['a long uid', 'pods', { uid: 'u'.repeat(129) }, 'metadata.uid is not a string of at most 128 characters'],
  ['a uid with spaces', 'pods', { uid: 'u 1' }, 'metadata.uid is not a string of at most 128 characters'],
  [
    'the label of a long Service',
    'endpointslices',
    { labels: { 'kubernetes.io/service-name': 'a'.repeat(254) } },
    'the label kubernetes.io/service-name is not the name of a Service',
  ],
  ['a long version', 'pods', { resourceVersion: '1'.repeat(65) }, 'metadata.resourceVersion has 65 characters'],
])('an object with %s is rejected', (_, resource, given, message) => {
  expect(() => checkIdentity(resource, { ...object, ...given })).toThrow(message);
});

const resources = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'] as const;
const hostile = ['', 'a\r\nb', 'a/b', '..', '*', 'a b', '\u0000', '\u001b[2J', 'a'.repeat(100_000)];

test.each(resources)('no hostile text becomes the name, namespace or uid of one of the %s', (resource) => {
  for (const text of hostile) {
    const given = [{ name: text }, ...(resource === 'nodes' ? [] : [{ namespace: text }])];
    for (const field of given) expect(() => checkIdentity(resource, { ...object, ...field })).toThrow(TypeError);
  }
  for (const uid of hostile.slice(1).filter((text) => text !== '..'))
    expect(() => checkIdentity(resource, { ...object, uid })).toThrow(TypeError);
});
