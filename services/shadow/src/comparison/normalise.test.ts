import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import {
  type ClusterState,
  type NormaliseOptions,
  normalise,
  triggerTimeAnnotation,
  withoutHashOrder,
} from './normalise.ts';

const meta = (name: string, more: JsonObject = {}): JsonObject => ({ name, namespace: 'shop', ...more });
const pod = (name: string, uid: string): JsonObject => ({ metadata: meta(name, { uid }) });
const state = (more: Partial<ClusterState>): ClusterState => ({
  services: [],
  pods: [],
  endpoints: [],
  endpointslices: [],
  ...more,
});
const oneSlice = (
  metadata: JsonObject,
  more: JsonObject = {},
  options: NormaliseOptions = {},
  pods: JsonObject[] = [],
) => {
  const slice = { metadata, addressType: 'IPv4', ...more };
  return normalise(state({ endpointslices: [slice], pods }), options).slices[0]?.object;
};
const oneEndpoints = (subsets: JsonObject['subsets'], pods: JsonObject[] = []) =>
  normalise(state({ endpoints: [{ metadata: meta('web'), subsets: subsets ?? null }], pods })).endpoints[0]?.object;

describe('normalise', () => {
  it('drops server-generated metadata and marks objects that are being deleted', () => {
    const metadata = {
      ...meta('web-x', { uid: 'u', resourceVersion: '7', generation: 2, managedFields: [{}], generateName: 'web-' }),
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-01T00:00:01Z',
    };
    expect(oneSlice(metadata)?.metadata).toEqual({ name: 'web-*', namespace: 'shop', deleting: true });
  });

  it.each([
    ['by generateName', meta('some-abcde', { generateName: 'some-' }), 'some-*'],
    ['by the owner', meta('web-abcde', { ownerReferences: [{ name: 'web' }] }), 'web-*'],
    ['by the label', meta('web-abcde', { labels: { 'kubernetes.io/service-name': 'web' } }), 'web-*'],
    [
      'truncated to 58 characters',
      meta(`${'a'.repeat(58)}bcdfg`, { generateName: `${'a'.repeat(60)}-` }),
      `${'a'.repeat(58)}*`,
    ],
    ['unless the prefix differs', meta('other-abcde', { generateName: 'web-' }), 'other-abcde'],
  ])('recognises generated names %s', (_, metadata, name) => {
    expect(oneSlice(metadata)?.metadata).toMatchObject({ name });
  });

  it('keeps names chosen by users', () => {
    const metadata = meta('web-mine', { labels: { 'kubernetes.io/service-name': 'web' } });
    expect(oneSlice(metadata, {}, { userSlices: new Set(['web-mine']) })?.metadata).toMatchObject({ name: 'web-mine' });
  });

  it('replaces a uid by the name of its object, or by unknown', () => {
    const endpoints = ['u1', 'u9'].map((uid) => ({ addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', uid } }));
    expect(oneSlice(meta('web-x'), { endpoints }, {}, [pod('web-1', 'u1')])?.endpoints).toEqual([
      { addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', uid: 'Pod/shop/web-1' } },
      { addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', uid: 'unknown' } },
    ]);
  });

  it('sorts endpoints and lists ordered by uids, and keeps the order of ports', () => {
    const [a, b] = [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }];
    expect(oneSlice(meta('web-x'), { endpoints: [b, a] })?.endpoints).toEqual([a, b]);
    const ports = [{ name: 'z' }, { name: 'a' }];
    expect(oneSlice(meta('web-x'), { ports })?.ports).toEqual(ports);
    expect(oneSlice(meta('web-x'), { ports }, { anyPortOrder: true })?.ports).toEqual([{ name: 'a' }, { name: 'z' }]);
    const [one, two] = [
      { addresses: [{ ip: '10.0.0.1' }], ports },
      { addresses: [{ ip: '10.0.0.2' }], ports },
    ];
    expect(oneEndpoints([two, one])).toEqual(oneEndpoints([one, two]));
    expect(oneEndpoints([{ addresses: [{ ip: 'b' }, { ip: 'a' }] }])).toEqual(
      oneEndpoints([{ addresses: [{ ip: 'a' }, { ip: 'b' }] }]),
    );
  });

  it('treats empty and absent as equal only in fields where they mean the same', () => {
    const bare = oneSlice(meta('web-x'), { endpoints: [{ addresses: ['10.0.0.1'] }] });
    const endpoint = { addresses: ['10.0.0.1'], hints: null, hostname: '', conditions: {}, zone: null };
    expect(oneSlice(meta('web-x', { labels: {}, annotations: null }), { endpoints: [endpoint], ports: [] })).toEqual(
      bare,
    );
    expect(oneSlice(meta('web-x'), { ports: [{ name: '' }] })).not.toEqual(oneSlice(meta('web-x'), { ports: [{}] }));
    expect(oneEndpoints([{ ports: [{ name: '', port: 1 }] }])).toEqual(oneEndpoints([{ ports: [{ port: 1 }] }]));
  });

  it('keeps, masks or drops the trigger time', () => {
    const metadata = meta('web-x', { annotations: { [triggerTimeAnnotation]: '2026-01-01T00:00:00Z', note: 'n' } });
    const annotations = (triggerTime: NonNullable<NormaliseOptions['triggerTime']>) =>
      oneSlice(metadata, {}, { triggerTime })?.metadata;
    expect(annotations('keep')).toMatchObject({ annotations: metadata.annotations });
    expect(annotations('presence')).toMatchObject({ annotations: { [triggerTimeAnnotation]: 'present', note: 'n' } });
    expect(annotations('drop')).toMatchObject({ annotations: { note: 'n' } });
  });
});

const [http, dns] = [
  { name: 'http', port: 80 },
  { name: 'dns', port: 53 },
];

it('sorts ports and subsets at any depth', () => {
  const endpoints = { subsets: [{ ports: [http, dns] }, { addresses: [{ ip: '10.0.0.1' }], ports: [http] }] };
  const other = { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [http] }, { ports: [dns, http] }] };
  expect(withoutHashOrder(endpoints)).toEqual(withoutHashOrder(other));
  expect(withoutHashOrder({ endpointslices: [{ ports: [http, dns] }] })).toEqual({
    endpointslices: [{ ports: [dns, http] }],
  });
});

it('keeps every other order and all values', () => {
  const endpoints = { addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }], ports: [http] };
  expect(withoutHashOrder(endpoints)).toEqual(endpoints);
  expect(withoutHashOrder({ ports: [http, http] })).not.toEqual(withoutHashOrder({ ports: [http] }));
  expect(withoutHashOrder({ ports: [http] })).not.toEqual(withoutHashOrder({ ports: [{ ...http, port: 81 }] }));
});
