import { describe, expect, it } from 'vitest';
import { compareClusters, describeDifference } from './compare.ts';
import { explain } from './explained.ts';
import type { Json, JsonObject } from './json.ts';
import type { ClusterState } from './normalise.ts';

const labels = {
  'kubernetes.io/service-name': 'web',
  'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
};
const endpoint = (address: string, more: JsonObject = {}): JsonObject => ({
  addresses: [address],
  conditions: { ready: true },
  ...more,
});
let names = 0;
const slice = (endpoints: readonly Json[], more: JsonObject = {}): JsonObject => ({
  metadata: { name: `web-${++names}`, namespace: 'shop', labels },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 80 }],
  endpoints,
  ...more,
});
const state = (slices: readonly JsonObject[], more: Partial<ClusterState> = {}): ClusterState => ({
  services: [],
  pods: [],
  endpoints: [],
  endpointslices: slices,
  ...more,
});
const compare = (upstream: readonly JsonObject[], sluice: readonly JsonObject[]) =>
  compareClusters(state(upstream), state(sluice));
const kinds = (...args: Parameters<typeof compare>) => compare(...args).map(({ kind }) => kind);

const [a, b, c] = [endpoint('10.0.0.1'), endpoint('10.0.0.2'), endpoint('10.0.0.3')];

describe('one slice of a group', () => {
  it('is equal regardless of its generated name and the order of its endpoints', () => {
    expect(compare([slice([a, b])], [slice([b, a])])).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['a missing endpoint', slice([a])],
    ['an additional endpoint', slice([a, b, c])],
    ['another condition', slice([a, endpoint('10.0.0.2', { conditions: { ready: false } })])],
    ['a duplicate endpoint', slice([a, b, b])],
    ['another port', slice([a, b], { ports: [{ name: 'http', port: 81 }] })],
    ['another address type', slice([a, b], { addressType: 'IPv6' })],
    [
      'another owner',
      slice([a, b], { metadata: { name: 'web-1', namespace: 'shop', labels, ownerReferences: [{ name: 'x' }] } }),
    ],
    ['another generateName', slice([a, b], { metadata: { name: 'x-1', namespace: 'shop', labels } })],
    ['another namespace', slice([a, b], { metadata: { name: 'web-1', namespace: 'other', labels } })],
    [
      'an annotation',
      slice([a, b], { metadata: { name: 'web-1', namespace: 'shop', labels, annotations: { x: 'y' } } }),
    ],
  ])('differs by %s', (_, other) => {
    expect(kinds([slice([a, b])], [other])).toContain('object');
  });

  it('differs if one side has none', () => {
    expect(kinds([slice([a])], [])).toEqual(['object']);
    expect(kinds([], [slice([a])])).toEqual(['object']);
  });

  it('reports that only hints differ', () => {
    const hinted = (zone: string) => endpoint('10.0.0.1', { hints: { forZones: [{ name: zone }] } });
    expect(kinds([slice([hinted('a')])], [slice([hinted('b')])])).toEqual(['hints']);
    expect(kinds([slice([hinted('a')])], [slice([a])])).toEqual(['hints']);
  });
});

describe('several slices of a group', () => {
  it('are equal if their union and sizes are equal', () => {
    expect(compare([slice([a, b]), slice([c])], [slice([b]), slice([a, c])])).toEqual([]);
  });

  it('differ in sizes only if their union is equal', () => {
    expect(kinds([slice([a, b, c]), slice([])], [slice([b]), slice([a, c])])).toEqual(['sizes']);
    expect(kinds([slice([a, b, c])], [slice([b]), slice([a, c])])).toEqual(['sizes']);
  });

  it('differ if their union or their metadata differs', () => {
    expect(kinds([slice([a, b]), slice([c])], [slice([a]), slice([c])])).toEqual(['members']);
    expect(kinds([slice([a, b]), slice([c])], [slice([a, b]), slice([c, a])])).toEqual(['members']);
    const labelled = { metadata: { name: 'web-1', namespace: 'shop', labels: { ...labels, more: 'x' } } };
    expect(kinds([slice([a]), slice([b])], [slice([a]), slice([b], labelled)])).toEqual(['object']);
    const misnamed = { metadata: { name: 'other-1', namespace: 'shop', labels } };
    expect(kinds([slice([a]), slice([b])], [slice([a]), slice([b], misnamed)])).toEqual(['object']);
  });
});

describe('Endpoints', () => {
  const endpoints = (ip: string): JsonObject => ({
    metadata: { name: 'web', namespace: 'shop' },
    subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }],
  });
  const compared = (upstream: JsonObject[], sluice: JsonObject[]) =>
    compareClusters(state([], { endpoints: upstream }), state([], { endpoints: sluice }));

  it('differ by content and presence', () => {
    expect(compared([endpoints('10.0.0.1')], [endpoints('10.0.0.1')])).toEqual([]);
    expect(compared([endpoints('10.0.0.1')], [])).toHaveLength(1);
    const [difference] = compared([endpoints('10.0.0.1')], [endpoints('10.0.0.2')]);
    expect(difference && describeDifference(difference)).toBe(
      'Endpoints shop/web (object)\n  subsets[].addresses[].ip: "10.0.0.1" ≠ "10.0.0.2"',
    );
  });
});

describe('lines', () => {
  const endpoint = (pod: string, ready: boolean) => ({
    ...{ addresses: [`10.0.0.${pod.length}`], conditions: { ready } },
    targetRef: { kind: 'Pod', namespace: 'shop', name: pod },
  });
  const linesOf = (upstream: JsonObject[], sluice: JsonObject[]) =>
    compareClusters(state(upstream), state(sluice)).flatMap(({ lines }) => lines);

  it('name the Pod of each endpoint', () => {
    const lines = linesOf(
      [slice([endpoint('a', true), endpoint('bb', true)])],
      [slice([endpoint('bb', true), endpoint('a', false)])],
    );
    expect(lines).toEqual(['endpoints[a].conditions.ready: true ≠ false']);
  });

  it('name the Pods of an object that is missing on one side', () => {
    expect(linesOf([], [slice([endpoint('a', true)])])).toEqual([
      expect.stringMatching(/^the object: nothing ≠ with a: \{"addressType"/),
    ]);
    expect(linesOf([slice([endpoint('a', true)])], [])).toEqual([
      expect.stringMatching(/^the object: with a: \{.* ≠ nothing$/),
    ]);
  });
});

describe('explanations', () => {
  const context = (upstream: ClusterState, maxEndpointsPerSlice = 3) => ({ state: upstream, maxEndpointsPerSlice });
  const explained = (
    upstream: readonly JsonObject[],
    sluice: readonly JsonObject[],
    services: readonly JsonObject[] = [],
  ) => {
    const left = state(upstream, { services });
    return compareClusters(left, state(sluice)).map((difference) => explain(difference, context(left))?.rules);
  };

  it('explains other sizes, but neither empty nor oversized slices', () => {
    const d = endpoint('10.0.0.4');
    expect(explained([slice([a, b, c]), slice([d])], [slice([a, b]), slice([c, d])])).toEqual(['M3, E20–E22']);
    expect(explained([slice([a, b]), slice([c, d])], [slice([a, b, c, d]), slice([])])).toEqual([undefined]);
  });

  it('explains other zones in hints, for topology mode Auto if each ready endpoint has a hint', () => {
    const hinted = (zone: string) => slice([endpoint('10.0.0.1', { hints: { forZones: [{ name: zone }] } })]);
    const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
    const service = (more: JsonObject) => [{ metadata: { name: 'web', namespace: 'shop', ...more } }];
    expect(explained([hinted('a')], [hinted('b')], service({ annotations }))).toEqual(['M6, F5–F8']);
    expect(explained([hinted('a')], [hinted('b')], service({}))).toEqual([undefined]);
    expect(explained([hinted('a')], [slice([a])], service({ annotations }))).toEqual([undefined]);
  });

  it('does not explain lost endpoints', () => {
    expect(explained([slice([a, b]), slice([c])], [slice([a]), slice([c])])).toEqual([undefined]);
  });
});

describe('a placeholder slice on one side only', () => {
  const placeholder = slice([], { ports: [] });
  const explained = (upstream: readonly JsonObject[], sluice: readonly JsonObject[]) =>
    compare(upstream, sluice).map(
      (each) => explain(each, { state: state(upstream), maxEndpointsPerSlice: 100 })?.rules,
    );

  it('is explained next to another slice of its address type, on either side', () => {
    expect(explained([slice([a]), placeholder], [slice([a])])).toEqual(['E15, E24']);
    expect(explained([slice([a])], [slice([a]), placeholder])).toEqual(['E15, E24']);
  });

  it('is not explained if it is the only slice of its address type or has endpoints or ports', () => {
    expect(explained([placeholder], [])).toEqual([undefined]);
    const other = slice([a], { addressType: 'IPv6' });
    expect(explained([other, placeholder], [other])).toEqual([undefined]);
    expect(explained([slice([a]), slice([b], { ports: [] })], [slice([a])])).toEqual([undefined]);
    expect(explained([slice([a]), slice([], { ports: [{ name: 'x', port: 1 }] })], [slice([a])])).toEqual([undefined]);
  });
});

describe('mirrored slices on which the upstream controller is stuck', () => {
  const labels = {
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
  };
  const mirrored = (ip: string, ready: boolean) =>
    slice([{ addresses: [ip], conditions: { ready } }], { metadata: { name: 'web-x', namespace: 'shop', labels } });
  const endpoints = {
    metadata: { name: 'web', namespace: 'shop' },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], notReadyAddresses: [{ ip: '192.0.2.2' }] }],
  };
  const explained = (sluice: readonly JsonObject[], stuck: readonly string[]) => {
    const upstream = [mirrored('192.0.2.9', true)];
    const left = { ...state(upstream), endpoints: [endpoints] };
    const context = { state: left, maxEndpointsPerSlice: 100, stuckMirrors: new Set(stuck) };
    const differences = compareClusters(left, { ...state(sluice), endpoints: [endpoints] });
    return differences.map((difference) => explain(difference, context)?.rules);
  };
  const right = [mirrored('192.0.2.1', true), mirrored('192.0.2.2', false)];

  it('are explained if that controller reports it and Sluice mirrors the Endpoints', () => {
    expect(new Set(explained(right, ['shop/web']))).toEqual(new Set(['H19']));
  });

  it('are not explained without its report, or if Sluice has endpoints that the Endpoints lacks', () => {
    expect(new Set(explained(right, []))).toEqual(new Set([undefined]));
    expect(explained([...right, mirrored('192.0.2.7', true)], ['shop/web'])).toContain(undefined);
    expect(explained([mirrored('192.0.2.1', false)], ['shop/web'])).toContain(undefined);
  });
});
