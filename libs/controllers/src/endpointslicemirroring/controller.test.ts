import {
  type EndpointAddress,
  type EndpointSlice,
  type EndpointSubset,
  type Endpoints,
  endpointSliceMirroringController,
  lastAppliedAnnotation,
  leaderAnnotation,
  managedByLabel,
  overCapacityAnnotation,
  type Plan,
  type Service,
  serviceNameLabel,
  skipMirrorLabel,
  triggerTimeAnnotation,
} from '@sluice/model';
import { aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { describe, expect, it, test } from 'vitest';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { mirroringController, reconcileMirroring } from './controller.ts';

test.each([
  ['without Endpoints', aService({ selector: null }), null, true],
  ['without Service', null, someEndpoints(), true],
  ['with selector', aService(), someEndpoints(), true],
  ['without selector', aService({ selector: null }), someEndpoints(), false],
  [
    'excluded',
    aService({ selector: null }),
    someEndpoints({
      metadata: { name: 'web', namespace: 'shop', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    }),
    true,
  ],
])('a Service needs no mirrored slice: %s (H6)', (_, service, endpoints, needsNone) => {
  expect(mirroringController.trackers.needsNone?.(service, endpoints)).toBe(needsNone);
});

const custom = aService({ selector: null });
const http = { name: 'http', port: 80, protocol: 'TCP' };
const addresses = (...ips: string[]): EndpointAddress[] => ips.map((ip) => ({ ip }));

function withSubsets(...subsets: EndpointSubset[]): Endpoints {
  return someEndpoints({ subsets });
}

function mirroredSlice(name: string, given: Partial<EndpointSlice> = {}): EndpointSlice {
  const { metadata } = aSlice(name);
  const labels = { [serviceNameLabel]: 'web', [managedByLabel]: endpointSliceMirroringController };
  return aSlice(name, { ...given, metadata: { ...metadata, labels, ...given.metadata } });
}

function plan(
  endpoints: Endpoints | null,
  slices: Iterable<EndpointSlice> = [],
  max = 1000,
  service: Service | null = custom,
): Plan {
  return reconcileMirroring({ service, endpoints, slices, maxEndpointsPerSubset: max }).plan;
}

function summary({ groups }: Plan): string[] {
  return groups
    .flatMap((group) => group.mutations)
    .map((one) => {
      if (one.verb === 'delete') return `delete ${one.name}`;
      if (one.resource !== 'endpointslices') return one.resource;
      const { metadata, addressType, endpoints } = one.object;
      return `${one.verb} ${metadata.name || metadata.generateName} ${addressType} ${endpoints?.length}`;
    });
}

function applied(endpoints: Endpoints, before: WrittenObjects = nothingWritten): WrittenObjects {
  return applyPlan(before, plan(endpoints, before.slices.values()));
}

describe('mirroring', () => {
  it('creates one slice per family and port group (H10–H12)', () => {
    const target = { kind: 'Pod', namespace: 'shop', name: 'p', uid: 'u', resourceVersion: '1' };
    const endpoints = withSubsets({
      addresses: [{ ip: '10.0.0.1', hostname: 'h', nodeName: 'n', targetRef: target }, { ip: 'FD00::1' }],
      notReadyAddresses: addresses('010.0.0.2'),
      ports: [http],
    });
    const [four, six] = [...applied(endpoints).slices.values()];
    expect(four).toMatchObject({
      addressType: 'IPv4',
      ports: [http],
      endpoints: [{ addresses: ['10.0.0.2'], conditions: { ready: false } }, {}].reverse(),
    });
    expect(four?.endpoints?.[0]).toEqual({
      addresses: ['10.0.0.1'],
      conditions: { ready: true },
      hostname: 'h',
      nodeName: 'n',
      targetRef: target,
    });
    expect(six?.endpoints).toEqual([{ addresses: ['fd00::1'], conditions: { ready: true } }]);
  });

  it('gives each port a name and a protocol, and an application protocol only if it has one (H10)', () => {
    const ports = [{ port: 80 }, { name: 'app', port: 81, protocol: 'UDP', appProtocol: 'h2c' }];
    const [slice] = applied(withSubsets({ addresses: addresses('10.0.0.1'), ports })).slices.values();
    expect(slice?.ports?.toSorted((a, b) => (a.port ?? 0) - (b.port ?? 0))).toStrictEqual([
      { name: '', protocol: '', port: 80 },
      { name: 'app', protocol: 'UDP', port: 81, appProtocol: 'h2c' },
    ]);
  });

  it('mirrors an address that is written in two ways once, as the last one says (H13)', () => {
    const written = [
      { ip: '010.0.0.1', nodeName: 'a' },
      { ip: '10.0.0.1', nodeName: 'b' },
    ];
    const [slice] = applied(withSubsets({ addresses: written })).slices.values();
    expect(slice?.endpoints).toMatchObject([{ addresses: ['10.0.0.1'], nodeName: 'b' }]);
  });

  it('repacks subsets first: an address that is not ready in one subset is not ready (H9)', () => {
    const ready = { addresses: addresses('10.0.0.1'), ports: [http] };
    const notReady = { notReadyAddresses: addresses('10.0.0.1'), ports: [http] };
    for (const endpoints of [withSubsets(ready, notReady), withSubsets(notReady, ready)]) {
      const slices = [...applied(endpoints).slices.values()];
      expect(slices.map((slice) => slice.endpoints)).toEqual([
        [{ addresses: ['10.0.0.1'], conditions: { ready: false } }],
      ]);
    }
  });

  it('puts groups with the same ports into one slice (H13)', () => {
    const app = { ...http, appProtocol: 'h2c' };
    const endpoints = withSubsets(
      { addresses: addresses('10.0.0.1', '10.0.0.2'), ports: [app] },
      { addresses: addresses('10.0.0.2', '10.0.0.3'), ports: [{ ...app }] },
    );
    expect(summary(plan(endpoints))).toEqual(['create web- IPv4 3']);
  });

  it('deletes slices of unwanted ports and types, including FQDN (H18)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1'), ports: [http] });
    const before = [...applied(endpoints).slices.values()];
    const odd = [
      mirroredSlice('fqdn', { addressType: 'FQDN' }),
      mirroredSlice('other', { ports: [{ ...http, port: 99 }] }),
    ];
    expect(summary(plan(endpoints, [...before, ...odd]))).toEqual(['delete fqdn', 'delete other']);
  });

  it('copies labels and all but two annotations, and is owned by the Endpoints (H16, H21, K9)', () => {
    const kept = { note: 'x', [overCapacityAnnotation]: 'truncated' };
    const annotations = { ...kept, [triggerTimeAnnotation]: 't', [lastAppliedAnnotation]: '{}' };
    const metadata = { name: 'web', namespace: 'shop', uid: 'endpoints-uid', labels: { team: 'x' }, annotations };
    const [slice] = applied(
      someEndpoints({ metadata, subsets: [{ addresses: addresses('10.0.0.1') }] }),
    ).slices.values();
    expect(slice?.metadata).toMatchObject({
      labels: { team: 'x', [serviceNameLabel]: 'web', [managedByLabel]: endpointSliceMirroringController },
      ownerReferences: [{ kind: 'Endpoints', name: 'web', uid: 'endpoints-uid', controller: true }],
    });
    expect(slice?.metadata.annotations).toEqual(kept);
  });

  it.each<[string, Endpoints | null, Service | null]>([
    ['there is no Endpoints', null, custom],
    [
      'it is excluded from mirroring',
      someEndpoints({ metadata: { name: 'web', namespace: 'shop', labels: { [skipMirrorLabel]: 'true' } } }),
      custom,
    ],
    [
      'it is a leader-election lock',
      someEndpoints({ metadata: { name: 'web', namespace: 'shop', annotations: { [leaderAnnotation]: '' } } }),
      custom,
    ],
    ['there is no Service', someEndpoints(), null],
    ['the Service has a selector', someEndpoints(), aService()],
  ])('cleans up if %s, each slice in its own group (H2, H6, H7)', (_, endpoints, service) => {
    const cleanUp = plan(endpoints, [mirroredSlice('s'), mirroredSlice('t')], 1000, service);
    expect(summary(cleanUp)).toEqual(['delete s', 'delete t']);
    expect(cleanUp.groups).toHaveLength(2);
  });

  it.each<[string, object, Service]>([
    ['a label that says not to skip it', { labels: { [skipMirrorLabel]: 'false' } }, custom],
    ['an ExternalName Service without selector', {}, aService({ selector: null, type: 'ExternalName' })],
  ])('mirrors Endpoints with %s (H2, H6)', (_, metadata, service) => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const labelled = { ...endpoints, metadata: { ...endpoints.metadata, ...metadata } };
    expect(summary(plan(labelled, [], 1000, service))).toEqual(['create web- IPv4 1']);
  });

  it('keeps a correct slice and deletes others of its group (H15)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1'), ports: [{ ...http, port: 8080 }] });
    const right = { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] };
    const owned = { ownerReferences: [] };
    const slice = (name: string, content = right) =>
      mirroredSlice(name, { ...content, metadata: { ...mirroredSlice(name).metadata, ...owned } });
    expect(summary(plan(endpoints, [slice('s')]))).toEqual([]);
    expect(summary(plan(endpoints, [slice('s', { endpoints: [] }), slice('t')]))).toEqual(['delete s']);
  });

  it.each<[string, Partial<EndpointSlice>, Partial<EndpointSlice['metadata']>]>([
    ['another label', {}, { labels: { team: 'y' } }],
    ['another annotation', {}, { annotations: { note: 'y' } }],
    ['an endpoint that is not ready', { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }] }, {}],
  ])('rewrites a slice with %s (H15)', (_, content, metadata) => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const [right = expect.unreachable('no slice')] = applied(endpoints).slices.values();
    const labels = { ...right.metadata.labels, ...metadata.labels };
    const wrong = { ...right, ...content, metadata: { ...right.metadata, ...metadata, labels } };
    expect(summary(plan(endpoints, [right]))).toEqual([]);
    expect(summary(plan(endpoints, [wrong]))).toEqual(['update web-0 IPv4 1']);
  });

  it('keeps a slice of its group that is not being deleted, if there is one (H8, H15)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const [right = expect.unreachable('no slice')] = applied(endpoints).slices.values();
    const slice = (name: string, deleting = false): EndpointSlice => ({
      ...{ ...right, endpoints: [] },
      metadata: { ...right.metadata, name, ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    });
    const twins = [slice('a', true), slice('b')];
    expect(summary(plan(endpoints, twins))).toEqual(['update b IPv4 1', 'delete a']);
    expect(summary(plan(endpoints, [slice('a', true)]))).toEqual(['update a IPv4 1']);
  });

  it('keeps a slice that is out of date rather than a correct one that is being deleted (H8, H15)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const [right = expect.unreachable('no slice')] = applied(endpoints).slices.values();
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const leaving = { ...right, metadata: { ...right.metadata, name: 'a', deletionTimestamp } };
    const outdated = { ...right, endpoints: [], metadata: { ...right.metadata, name: 'b' } };
    expect(summary(plan(endpoints, [leaving, outdated]))).toEqual(['update b IPv4 1', 'delete a']);
  });

  it('keeps the first of two correct slices, whatever else owns it (H15)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const [right = expect.unreachable('no slice')] = applied(endpoints).slices.values();
    const [owner = expect.unreachable('no owner')] = right.metadata.ownerReferences ?? [];
    const twin = (name: string, ...others: object[]): EndpointSlice => ({
      ...right,
      metadata: {
        ...right.metadata,
        name,
        ownerReferences: [owner, ...others.map((other) => ({ ...owner, ...other }))],
      },
    });
    const uid = 'another-uid';
    for (const other of [
      { kind: 'Service', uid },
      { name: 'another', uid },
    ]) {
      expect(summary(plan(endpoints, [twin('a', other), twin('b')]))).toEqual(['delete b']);
    }
    expect(summary(plan(endpoints, [twin('a', { uid }), twin('b')]))).toEqual(['delete a']);
  });

  it('replaces slices of an earlier Endpoints object (H15)', () => {
    const before = applied(withSubsets({ addresses: addresses('10.0.0.1') }));
    const anew = someEndpoints({
      metadata: { name: 'web', namespace: 'shop', uid: 'another' },
      subsets: [{ addresses: addresses('10.0.0.1') }],
    });
    expect(summary(plan(anew, before.slices.values()))).toEqual(['update web-0 IPv4 1']);
  });

  it('keeps a slice that a Service of the same name owns, too (H15)', () => {
    const endpoints = withSubsets({ addresses: addresses('10.0.0.1') });
    const [slice = expect.unreachable('no slice')] = applied(endpoints).slices.values();
    const ownerReferences = [
      ...(slice.metadata.ownerReferences ?? []),
      ...(aSlice('s').metadata.ownerReferences ?? []),
    ];
    expect(summary(plan(endpoints, [{ ...slice, metadata: { ...slice.metadata, ownerReferences } }]))).toEqual([]);
  });

  it('sends no update without effect if the Endpoints have a reserved label, unlike upstream (H22)', () => {
    const metadata = { name: 'web', namespace: 'shop', labels: { [serviceNameLabel]: 'odd' } };
    const endpoints = someEndpoints({ metadata, subsets: [{ addresses: addresses('10.0.0.1') }] });
    const { slices } = applied(endpoints);
    expect([...slices.values()].map((slice) => slice.metadata.labels?.[serviceNameLabel])).toEqual(['web']);
    expect(summary(plan(endpoints, slices.values()))).toEqual([]);
  });

  it('leaves no slice if nothing is mirrored (H14)', () => {
    const before = applied(withSubsets({ addresses: addresses('10.0.0.1', 'fd00::1') }));
    expect(summary(plan(withSubsets({ addresses: addresses('fd00::1') }), before.slices.values()))).toEqual([
      'delete web-0',
    ]);
  });

  it('creates, then updates, then deletes (H20)', () => {
    const before = applied(withSubsets({ addresses: addresses('10.0.0.1', 'fd00::1'), ports: [http] }));
    const after = withSubsets(
      { addresses: addresses('10.0.0.2'), ports: [http] },
      { addresses: addresses('10.0.0.3'), ports: [{ ...http, port: 81 }] },
    );
    expect(summary(plan(after, before.slices.values()))).toEqual([
      'create web- IPv4 1',
      'update web-0 IPv4 1',
      'delete web-1',
    ]);
  });

  it('creates nothing for terminating Endpoints (H20)', () => {
    const metadata = { name: 'web', namespace: 'shop', deletionTimestamp: '2024-01-01T00:00:00Z' };
    expect(summary(plan(someEndpoints({ metadata, subsets: [{ addresses: addresses('10.0.0.1') }] })))).toEqual([]);
  });
});

describe('converges in one pass, where upstream may not (H19)', () => {
  it('when ports change and a family is added', () => {
    const before = applied(withSubsets({ addresses: addresses('fd00::1'), ports: [http] }));
    const after = withSubsets({ addresses: addresses('fd00::1', '10.0.0.1'), ports: [{ ...http, port: 81 }] });
    expect(summary(plan(after, before.slices.values()))).toEqual(['create web- IPv4 1', 'update web-0 IPv6 1']);
    const settled = applied(after, before);
    expect(summary(plan(after, settled.slices.values()))).toEqual([]);
  });

  it('when the ports of both families change', () => {
    const before = applied(withSubsets({ addresses: addresses('fd00::1', '10.0.0.1'), ports: [http] }));
    const after = withSubsets({ addresses: addresses('fd00::1', '10.0.0.1'), ports: [{ ...http, port: 81 }] });
    expect(summary(plan(after, before.slices.values())).sort()).toEqual(['update web-0 IPv4 1', 'update web-1 IPv6 1']);
  });
});

it('updates a slice that contains one endpoint twice and lacks another, unlike upstream (H15)', () => {
  const [first] = applied(withSubsets({ addresses: addresses('10.0.0.1'), ports: [http] })).slices.values();
  const twice = { ...(first as EndpointSlice), endpoints: [first, first].flatMap((slice) => slice?.endpoints ?? []) };
  const endpoints = withSubsets({ addresses: addresses('10.0.0.1', '10.0.0.2'), ports: [http] });
  const inputs = { service: custom, endpoints, slices: [twice], maxEndpointsPerSubset: 1000 };
  expect(reconcileMirroring(inputs).plan.groups).toHaveLength(1);
});

describe('limits (H11, H17)', () => {
  it('mirrors ready addresses first and skips those above the maximum of a subset', () => {
    const endpoints = withSubsets({
      addresses: addresses('10.0.0.1', '10.0.0.2'),
      notReadyAddresses: addresses('10.0.0.3'),
    });
    const result = plan(endpoints, [], 2);
    expect(summary(result)).toEqual(['create web- IPv4 2']);
    expect(result.events).toMatchObject([
      {
        reason: 'TooManyAddressesToMirror',
        message:
          'A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
        regarding: { kind: 'Endpoints', namespace: 'shop', name: 'web', uid: 'endpoints-uid' },
      },
    ]);
  });

  it('reports invalid addresses, which do not count towards the maximum', () => {
    const result = plan(withSubsets({ addresses: addresses('10.0.0.1', '1.2.3', 'host', '10.0.0.2') }), [], 2);
    expect(summary(result)).toEqual(['create web- IPv4 2']);
    expect(result.events.map(({ message }) => message)).toEqual([
      'Skipped 1 invalid IP addresses when mirroring to EndpointSlices',
      expect.stringContaining('2 addresses were skipped'),
    ]);
  });

  it('reports no maximum if only invalid addresses are skipped', () => {
    const { events } = plan(withSubsets({ addresses: addresses('10.0.0.1', 'host') }));
    expect(events.map(({ reason }) => reason)).toEqual(['InvalidIPAddress']);
  });

  it('does not rewrite a slice endlessly if merging exceeds the limit (H13, H16)', () => {
    const app = { ...http, appProtocol: 'h2c' };
    const endpoints = withSubsets(
      { addresses: addresses('10.0.0.1'), ports: [app] },
      { addresses: addresses('10.0.0.2'), ports: [app] },
    );
    const first = plan(endpoints, [], 1);
    const { slices } = applyPlan(nothingWritten, first);
    expect(summary(first)).toEqual(['create web- IPv4 1']);
    expect(summary(plan(endpoints, slices.values(), 1))).toEqual([]);
  });
});
