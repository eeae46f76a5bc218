import {
  type Endpoint,
  type EndpointSlice,
  headlessLabel,
  type Mutation,
  managedByLabel,
  type Plan,
  type PodOnNode,
  type Service,
  serviceNameLabel,
  topologyModeAnnotation,
  triggerTimeAnnotation,
} from '@sluice/model';
import { aPod, aService, aSlice, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import type { EndpointSliceCounts } from '../controller-metrics.ts';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { nodeTopology } from '../trackers/topology-cache.ts';
import { reconcileEndpointSlices } from './controller.ts';

const node = (zone: string) => ({ name: zone, zone, ready: true, controlPlane: false, allocatableMilliCpu: 1000 });

function reconcile(service: Service | null, of: readonly PodOnNode[], slices: readonly EndpointSlice[], max = 100) {
  const triggers = { service: service?.creationTimestamp ?? null, pods: {} };
  const topology = nodeTopology([node('a'), node('b')]);
  return reconcileEndpointSlices({
    service,
    pods: of,
    slices,
    triggers,
    topology,
    hints: null,
    maxEndpointsPerSlice: max,
  });
}

function mutations(plan: Plan): Mutation[] {
  return plan.groups.flatMap((group) => group.mutations);
}

function summary(plan: Plan): string[] {
  return mutations(plan).map((one) => {
    if (one.verb === 'delete') return `delete ${one.name}`;
    if (one.resource !== 'endpointslices') return one.resource;
    const { metadata, addressType, endpoints } = one.object;
    return `${one.verb} ${metadata.name || metadata.generateName} ${addressType} ${endpoints?.length}`;
  });
}

const [podEndpoint] = mutations(reconcile(aService(), pods(1), []).plan).map((one) =>
  one.verb === 'create' && one.resource === 'endpointslices' ? one.object.endpoints?.[0] : undefined,
);

describe('a new slice (E25)', () => {
  it('is owned by its Service and named after it (E26, K9)', () => {
    const service = aService({
      labels: { team: 'x', [serviceNameLabel]: 'mine', [managedByLabel]: 'me', [headlessLabel]: 'x' },
    });
    expect(mutations(reconcile(service, [], []).plan)).toEqual([
      {
        verb: 'create',
        resource: 'endpointslices',
        object: {
          metadata: {
            name: '',
            generateName: 'web-',
            namespace: 'shop',
            labels: { team: 'x', [serviceNameLabel]: 'web', [managedByLabel]: 'endpointslice-controller.k8s.io' },
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'Service',
                name: 'web',
                uid: 'service-uid',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          },
          addressType: 'IPv4',
          endpoints: [],
          ports: [],
        },
      },
    ]);
  });

  it('carries the trigger time and the headless label (E26, E30)', () => {
    const service = aService({ clusterIP: 'None' });
    const inputs = {
      service,
      pods: [],
      slices: [],
      triggers: null,
      topology: null,
      hints: null,
      maxEndpointsPerSlice: 1,
    };
    expect(mutations(reconcileEndpointSlices(inputs).plan)).toMatchObject([
      {
        object: {
          metadata: {
            annotations: { [triggerTimeAnnotation]: service.creationTimestamp },
            labels: { [headlessLabel]: '' },
          },
        },
      },
    ]);
  });

  it('is not created for a terminating Service (E29)', () => {
    expect(summary(reconcile(aService({ deleting: true }), pods(1), []).plan)).toEqual([]);
  });
});

describe('address types (E12, E13)', () => {
  it.each<[string, Partial<Service>, string[]]>([
    ['both families, in separate groups', { ipFamilies: ['IPv6', 'IPv4'] }, ['IPv6 1', 'IPv4 1']],
    ['the family of the cluster IP', { ipFamilies: [], clusterIP: 'fd00::1' }, ['IPv6 1']],
    ['both if headless without families', { ipFamilies: [], clusterIP: 'None' }, ['IPv4 1', 'IPv6 1']],
  ])('%s', (_, given, expected) => {
    const { plan } = reconcile(aService(given), [onNode(aPod(1, { ips: ['10.0.0.1', 'fd00::1'] }))], []);
    expect(summary(plan)).toEqual(expected.map((one) => `create web- ${one}`));
    expect(plan.groups).toHaveLength(expected.length);
  });

  it('deletes and marks slices of other types last, each in its own group (E28)', () => {
    const slices = [aSlice('fqdn', { addressType: 'FQDN' }), aSlice('six', { addressType: 'IPv6' })];
    const { plan } = reconcile(aService(), pods(1), slices);
    expect(summary(plan)).toEqual(['create web- IPv4 1', 'delete fqdn', 'delete six']);
    expect(plan.groups).toHaveLength(3);
    expect(plan.groups[1]?.mutations[0]).toMatchObject({
      unsupportedAddressType: true,
      uid: 'uid-fqdn',
      resourceVersion: '7',
    });
  });

  it('sorts several addresses of one type (C23, E17)', () => {
    const { plan } = reconcile(aService(), [onNode(aPod(1, { ips: ['10.0.0.2', '10.0.0.1'] }))], []);
    expect(mutations(plan)).toMatchObject([{ object: { endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }] } }]);
  });
});

describe('Pods', () => {
  it('whose Node is missing are skipped and reported; the rest is written (E15)', () => {
    const { plan } = reconcile(aService(), [onNode(aPod(1)), { pod: aPod(2), node: null }], []);
    expect(summary(plan)).toEqual(['create web- IPv4 1']);
    expect(plan.incomplete).toEqual(['skipping Pod web-2 for Service shop/web: Node node-a Not Found']);
  });

  it('whose Node is missing stay without a zone if publishNotReadyAddresses is set', () => {
    const { plan } = reconcile(aService({ publishNotReadyAddresses: true }), [{ pod: aPod(2), node: null }], []);
    expect(plan.incomplete).toEqual([]);
    expect(mutations(plan)).toMatchObject([{ object: { endpoints: [{ nodeName: 'node-a' }] } }]);
  });

  it('that are terminating are listed as such (E18)', () => {
    const { plan } = reconcile(aService(), [onNode(aPod(1, { terminating: true }))], []);
    const conditions = { ready: false, serving: true, terminating: true };
    expect(mutations(plan)).toMatchObject([{ object: { endpoints: [{ conditions }] } }]);
  });

  it('with different ports go into different slices, even if no port resolves (E16)', () => {
    const named = (containerPort: number) => ({ ports: [{ name: 'http', protocol: 'TCP', containerPort }] });
    const service = aService({ ports: [{ ...httpPort, targetPort: 'http' }] });
    const of = [onNode(aPod(1, named(80))), onNode(aPod(2, named(81))), onNode(aPod(3)), onNode(aPod(4, named(81)))];
    expect(summary(reconcile(service, of, []).plan)).toEqual([
      'create web- IPv4 1',
      'create web- IPv4 2',
      'create web- IPv4 1',
    ]);
  });
});

describe('existing slices', () => {
  const filled = (name: string, given: Partial<EndpointSlice> = {}) =>
    aSlice(name, { endpoints: podEndpoint ? [podEndpoint] : [], ...given });

  it('are unchanged if correct', () => {
    expect(summary(reconcile(aService(), pods(1), [filled('s')]).plan)).toEqual([]);
  });

  it('that are being deleted are ignored (E10)', () => {
    const { metadata } = aSlice('s');
    const going = filled('s', { metadata: { ...metadata, deletionTimestamp: '2024-01-01T00:00:00Z' } });
    expect(summary(reconcile(aService(), pods(1), [going]).plan)).toEqual(['create web- IPv4 1']);
  });

  it('of an earlier Service with the same name are deleted after all other writes, not recycled (E14, E27, E28)', () => {
    const { metadata } = aSlice('s');
    const [owner] = metadata.ownerReferences ?? [];
    const foreign = filled('s', {
      metadata: { ...metadata, ownerReferences: owner ? [{ ...owner, uid: 'earlier' }] : [] },
    });
    expect(summary(reconcile(aService(), pods(1), [foreign]).plan)).toEqual(['create web- IPv4 1', 'delete s']);
  });

  it.each([{ kind: 'Endpoints' }, { apiVersion: 'v2' }, { uid: 'earlier' }])(
    'owned by %o are deleted (E14)',
    (other) => {
      const { metadata } = aSlice('s');
      const owners = (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, ...other }));
      const foreign = filled('s', { metadata: { ...metadata, ownerReferences: owners } });
      expect(summary(reconcile(aService(), pods(1), [foreign]).plan)).toEqual(['create web- IPv4 1', 'delete s']);
    },
  );

  it('get the labels of their Service and lose those of users (E19, E26)', () => {
    const { metadata } = aSlice('s');
    const slice = filled('s', { metadata: { ...metadata, labels: { ...metadata.labels, user: 'x' } } });
    const service = aService({ labels: { team: 'x' } });
    expect(mutations(reconcile(service, pods(1), [slice]).plan)).toMatchObject([
      { verb: 'update', object: { metadata: { name: 's' } } },
    ]);
    const [update] = mutations(reconcile(service, pods(1), [slice]).plan);
    expect(update?.verb === 'update' && update.object.metadata.labels).toEqual({ ...metadata.labels, team: 'x' });
  });

  it('with ports that no Pod has are recycled (E23, E24, E27)', () => {
    const obsolete = filled('s', { ports: [{ name: 'old', protocol: 'TCP', port: 1 }] });
    const { metadata } = obsolete;
    const annotated = { ...obsolete, metadata: { ...metadata, annotations: { note: 'x' }, finalizers: ['x'] } };
    const [update, ...more] = mutations(reconcile(aService(), pods(1), [annotated]).plan);
    expect(more).toEqual([]);
    expect(update).toMatchObject({
      verb: 'update',
      object: { metadata: { name: 's', generateName: 'web-', resourceVersion: '7' } },
    });
    const body = update?.verb === 'update' ? update.object.metadata : undefined;
    expect(Object.keys(body?.annotations ?? {})).toEqual([triggerTimeAnnotation]);
    expect([body?.uid, body?.finalizers]).toEqual([undefined, undefined]);
  });

  it('are recycled in order, starting with the last create (E27)', () => {
    const obsolete = ['s', 't'].map((name) => filled(name, { ports: [{ name, protocol: 'TCP', port: 1 }] }));
    expect(summary(reconcile(aService(), pods(5), obsolete, 2).plan)).toEqual([
      'create web- IPv4 2',
      'update s IPv4 1',
      'update t IPv4 2',
    ]);
  });

  it('keep user annotations and get sorted ports and a precondition when updated (E31)', () => {
    const { metadata } = aSlice('s');
    const service = aService({ ports: [httpPort, { ...httpPort, name: 'https', targetPort: 443 }] });
    const [creation] = mutations(reconcile(service, pods(1), []).plan);
    const right =
      creation?.verb === 'create' && creation.resource === 'endpointslices' ? (creation.object.ports ?? []) : [];
    const slice = filled('s', { ports: [...right].reverse(), metadata: { ...metadata, annotations: { note: 'x' } } });
    const { plan } = reconcile(service, pods(2), [slice]);
    expect(mutations(plan)).toMatchObject([
      {
        verb: 'update',
        object: { ports: right, metadata: { annotations: { note: 'x' }, uid: 'uid-s', resourceVersion: '7' } },
      },
    ]);
  });

  it('lose the trigger time when there is none (E30)', () => {
    const { metadata } = aSlice('s');
    const annotations = { [triggerTimeAnnotation]: '2024-01-01T00:00:00Z', note: 'x' };
    const slice = filled('s', { metadata: { ...metadata, annotations } });
    const [update] = mutations(reconcile(aService(), pods(2, { readyTransitionTime: null }), [slice]).plan);
    expect(update?.verb === 'update' && update.object.metadata.annotations).toEqual({ note: 'x' });
  });

  it('stay if the Service is missing, has no selector or is an ExternalName (E8, E9)', () => {
    expect(summary(reconcile(null, [], [filled('s')]).plan)).toEqual([]);
    expect(summary(reconcile(aService({ selector: null }), [], [filled('s')]).plan)).toEqual([]);
    expect(summary(reconcile(aService({ type: 'ExternalName' }), [], [filled('s')]).plan)).toEqual([]);
  });
});

describe('the placeholder (E24)', () => {
  const empty = aSlice('s', { ports: [] });

  it('replaces the last slice', () => {
    expect(summary(reconcile(aService(), [], [aSlice('s')]).plan)).toEqual(['update s IPv4 0']);
  });

  it('is kept whatever its name, annotations or owner', () => {
    expect(summary(reconcile(aService(), [], [empty]).plan)).toEqual([]);
    const odd = { ...empty, metadata: { ...empty.metadata, annotations: { note: 'x' }, ownerReferences: [] } };
    expect(summary(reconcile(aService(), [], [odd]).plan)).toEqual([]);
  });

  it('replaces a slice that has endpoints or labels of users', () => {
    const stale = aSlice('s', { ports: [], endpoints: podEndpoint ? [podEndpoint] : [] });
    expect(summary(reconcile(aService(), [], [stale]).plan)).toEqual(['update s IPv4 0']);
    const labels = { ...empty.metadata.labels, user: 'x' };
    const labelled = { ...empty, endpoints: podEndpoint ? [podEndpoint] : [], metadata: { ...empty.metadata, labels } };
    expect(summary(reconcile(aService(), [], [labelled]).plan)).toEqual(['update s IPv4 0']);
  });

  it('is replaced if it has other labels or unknown fields', () => {
    expect(summary(reconcile(aService({ labels: { team: 'x' } }), [], [empty]).plan)).toEqual(['update s IPv4 0']);
    const strange: EndpointSlice = {
      ...empty,
      ...{ novelty: true },
      metadata: { ...empty.metadata, annotations: { a: 'b' } },
    };
    expect(summary(reconcile(aService(), [], [strange]).plan)).toEqual(['update s IPv4 0']);
  });

  it('is one of several empty slices', () => {
    const { plan } = reconcile(aService(), [], [empty, aSlice('t', { ports: [] })]);
    expect(summary(plan)).toEqual(['delete t']);
  });
});

describe('hints', () => {
  const spread = [0, 1, 2, 3].map((i) => onNode(aPod(i), i % 2 === 0 ? 'a' : 'b'));
  const auto = aService({ annotations: { [topologyModeAnnotation]: 'Auto' } });

  it('by topology are set and announced once (F9)', () => {
    const first = reconcile(auto, spread, []);
    expect(first.hints).toEqual({ populated: true, byAddressType: { IPv4: { a: 2, b: 2 } } });
    expect(first.plan.events).toEqual([
      {
        type: 'Normal',
        reason: 'TopologyAwareHintsEnabled',
        message: 'Topology Aware Hints has been enabled, addressType: IPv4',
        regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'service-uid' },
      },
    ]);
    const [create] = mutations(first.plan);
    const hints = create?.verb === 'create' && create.resource === 'endpointslices' ? create.object.endpoints : [];
    expect(hints?.map((one) => [one.zone, one.hints?.forZones?.[0]?.name])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('by topology are withheld with a warning if impossible (F4)', () => {
    const { plan, hints } = reconcile(auto, spread.slice(0, 1), []);
    expect(hints).toBeNull();
    expect(plan.events).toMatchObject([
      { type: 'Warning', message: 'Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4' },
    ]);
  });

  it('by topology that become impossible are forgotten (F4)', () => {
    const { hints } = reconcile(auto, spread, []);
    const inputs = { service: auto, slices: [], triggers: null, maxEndpointsPerSlice: 100, hints };
    const topology = nodeTopology([node('a'), node('b')]);
    expect(reconcileEndpointSlices({ ...inputs, pods: spread, topology }).hints).toEqual(hints);
    expect(reconcileEndpointSlices({ ...inputs, pods: spread, topology: null }).hints).toBeNull();
  });

  it('by topology are forgotten for address types that the Service no longer has (E12)', () => {
    const { hints } = reconcile(auto, spread, []);
    const six = aSlice('six', { addressType: 'IPv6' });
    const known = hints && { ...hints, byAddressType: { ...hints.byAddressType, IPv6: { a: 2 } } };
    const inputs = { service: auto, pods: spread, slices: [six], triggers: null, maxEndpointsPerSlice: 100 };
    const after = reconcileEndpointSlices({ ...inputs, topology: nodeTopology([node('a'), node('b')]), hints: known });
    expect(Object.keys(after.hints?.byAddressType ?? {})).toEqual(['IPv4']);
  });

  it('by topology take precedence over a traffic distribution (G1)', () => {
    const { plan } = reconcile({ ...auto, trafficDistribution: 'PreferClose' }, spread.slice(0, 1), []);
    expect(JSON.stringify(mutations(plan))).not.toContain('forZones');
    expect(plan.events).toMatchObject([{ reason: 'TopologyAwareHintsDisabled' }]);
  });

  it('by topology are reported per address type, in the order of the IP families (J3)', () => {
    const { plan } = reconcile({ ...auto, ipFamilies: ['IPv6', 'IPv4'] }, [], []);
    expect(plan.events.map(({ message }) => message.slice(-4))).toEqual(['IPv6', 'IPv4']);
  });

  it('by topology are removed when the Service stops asking for them (F11)', () => {
    const { hints } = reconcile(auto, spread, []);
    const inputs = { pods: spread, slices: [], triggers: null, topology: null, maxEndpointsPerSlice: 100 };
    const after = reconcileEndpointSlices({ ...inputs, service: aService(), hints });
    expect(after.hints).toBeNull();
    expect(after.plan.events).toMatchObject([{ message: 'Topology Aware Hints has been disabled, addressType: IPv4' }]);
  });

  it('by topology are forgotten with the Service, so that it announces them when it is created again, unlike upstream (E8, F9)', () => {
    const { hints } = reconcile(auto, spread, []);
    const inputs = { pods: spread, slices: [], triggers: null, topology: nodeTopology([node('a'), node('b')]) };
    const decide = (service: Service | null, known: typeof hints) =>
      reconcileEndpointSlices({ ...inputs, service, hints: known, maxEndpointsPerSlice: 100 });
    expect(decide(auto, hints).plan.events).toEqual([]);
    const deleted = decide(null, hints);
    expect(decide(auto, deleted.hints).plan.events).toMatchObject([{ reason: 'TopologyAwareHintsEnabled' }]);
  });

  it("by traffic distribution contain the endpoint's own zone and node, whatever the number of zones, and cause no Event (G2, G4)", () => {
    const { plan } = reconcile(aService({ trafficDistribution: 'PreferSameNode' }), pods(1), []);
    const hints = { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] };
    expect(mutations(plan)).toMatchObject([{ object: { endpoints: [{ hints }] } }]);
    expect(plan.events).toEqual([]);
  });

  it.each<[string, Endpoint['hints'], boolean]>([
    ['correct hints', { forZones: [{ name: 'a' }] }, false],
    ['none', undefined, true],
    ['another zone', { forZones: [{ name: 'b' }] }, true],
    ['a second zone', { forZones: [{ name: 'a' }, { name: 'b' }] }, true],
    ['an unwanted node', { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] }, true],
  ])('by traffic distribution are rewritten for an endpoint with %s (G3)', (_, hints, rewritten) => {
    const endpoints = podEndpoint ? [{ ...podEndpoint, ...(hints && { hints }) }] : [];
    const service = aService({ trafficDistribution: 'PreferClose' });
    const { plan } = reconcile(service, pods(1), [aSlice('s', { endpoints })]);
    expect(summary(plan)).toEqual(rewritten ? ['update s IPv4 1'] : []);
  });

  it('are removed if nothing asks for them (F10, G5)', () => {
    const hinted = podEndpoint ? [{ ...podEndpoint, hints: { forZones: [{ name: 'a' }] } }] : [];
    const { plan } = reconcile(aService(), pods(1), [aSlice('s', { endpoints: hinted })]);
    expect(mutations(plan)).toMatchObject([{ verb: 'update', object: { endpoints: [podEndpoint] } }]);
    expect(summary(plan)).toEqual(['update s IPv4 1']);
    const unknown = aService({ trafficDistribution: 'SomethingElse' });
    expect(summary(reconcile(unknown, pods(1), [aSlice('s', { endpoints: hinted })]).plan)).toEqual([
      'update s IPv4 1',
    ]);
  });
});

const max = 3;
const dual = aService({ ipFamilies: ['IPv4', 'IPv6'] });

function decide(service: Service | null, of: readonly PodOnNode[], slices: Iterable<EndpointSlice> = []) {
  const inputs = { service, pods: of, slices, triggers: null, topology: null, hints: null, maxEndpointsPerSlice: max };
  return reconcileEndpointSlices(inputs);
}

function count(...[service, of, slices]: Parameters<typeof decide>): EndpointSliceCounts {
  const { counts } = decide(service, of, slices);
  if (counts === null) throw new Error('no counts');
  return counts;
}

/** The slices in the cluster after the Service had these Pods. */
function written(service: Service, of: readonly PodOnNode[], before: WrittenObjects = nothingWritten): WrittenObjects {
  return applyPlan(before, decide(service, of, before.slices.values()).plan);
}

const dualPods = (n: number) =>
  Array.from({ length: n }, (_, i) => onNode(aPod(i, { ips: [`10.0.0.${i + 1}`, `fd00::${i + 1}`] })));

describe('the counts of a Service (I1)', () => {
  it('contain its endpoints, its slices, and the slices needed at least', () => {
    const { slices } = written(aService(), pods(4));
    expect(count(aService(), pods(4)).service).toMatchObject({ endpoints: 4, slices: 2, desiredSlices: 2 });
    expect(count(aService(), pods(2), slices.values()).service).toMatchObject({
      endpoints: 2,
      slices: slices.size - 1,
      desiredSlices: 1,
    });
  });

  it('count each port group separately', () => {
    const named = aService({ ports: [{ ...httpPort, targetPort: 'web' }] });
    const at = (i: number, containerPort: number) =>
      onNode(aPod(i, { ports: [{ name: 'web', containerPort, protocol: 'TCP' }] }));
    const { service } = count(named, [at(1, 80), at(2, 80), at(3, 81)]);
    expect(service).toMatchObject({ endpoints: 3, slices: 2, desiredSlices: 2 });
  });

  it('contain one slice without endpoints for a placeholder', () => {
    const { slices } = written(aService(), []);
    for (const existing of [[], slices.values()]) {
      expect(count(aService(), [], existing).service).toMatchObject({ endpoints: 0, slices: 1, desiredSlices: 1 });
    }
  });

  it('cover both families of a dual-stack Service, unlike upstream, which counts the last one', () => {
    expect(count(dual, dualPods(4)).service).toMatchObject({ endpoints: 8, slices: 4, desiredSlices: 4 });
    expect(count(dual, []).service).toMatchObject({ endpoints: 0, slices: 2, desiredSlices: 2 });
    expect(count(dual, pods(1)).service).toMatchObject({ endpoints: 1, slices: 2, desiredSlices: 2 });
  });

  it('ignore slices of another owner, which are deleted', () => {
    const foreign = aSlice('foreign', { metadata: { name: 'foreign', namespace: 'shop', ownerReferences: [] } });
    expect(count(aService(), pods(1), [foreign]).service).toMatchObject({ endpoints: 1, slices: 1 });
  });

  it('are null if the controller ignores the Service', () => {
    expect(decide(null, pods(1)).counts).toBeNull();
    expect(decide(aService({ selector: null }), pods(1)).counts).toBeNull();
    expect(decide(aService({ type: 'ExternalName' }), pods(1)).counts).toBeNull();
  });
});

describe('a sync (section I)', () => {
  it('counts added and removed endpoints and writes per address type', () => {
    expect(count(dual, dualPods(4)).addressTypes).toEqual([
      { added: 4, removed: 0, changed: 2 },
      { added: 4, removed: 0, changed: 2 },
    ]);
    const { slices } = written(aService(), pods(3));
    const others = [...pods(2), onNode(aPod(7)), onNode(aPod(8))];
    const [counted] = count(aService(), others, slices.values()).addressTypes;
    // Of three Pods one is removed. One of two new Pods takes its place; the other needs a slice.
    expect(counted).toEqual({ added: 2, removed: 1, changed: 2 });
  });

  it('counts nothing when converged', () => {
    const { slices } = written(aService(), pods(5));
    expect(count(aService(), pods(5), slices.values()).addressTypes).toEqual([{ added: 0, removed: 0, changed: 0 }]);
  });

  it('does not count endpoints removed with their ports', () => {
    const { slices } = written(aService(), pods(3));
    const moved = aService({ ports: [{ ...httpPort, targetPort: 9090 }] });
    expect(count(moved, pods(3), slices.values()).addressTypes).toEqual([{ added: 3, removed: 0, changed: 1 }]);
  });
});

describe('the hinting of a Service (I2)', () => {
  const hinting = (given: Partial<Service>) => count(aService(given), []).service.hinting;
  const auto = { [topologyModeAnnotation]: 'Auto' };

  it('is its valid traffic distribution, unless topology hints take precedence', () => {
    expect(hinting({})).toEqual({ topology: 'Disabled', trafficDistribution: '' });
    expect(hinting({ trafficDistribution: 'PreferSameNode' })).toEqual({
      topology: 'Disabled',
      trafficDistribution: 'PreferSameNode',
    });
    expect(hinting({ trafficDistribution: 'PreferTheMoon' })?.trafficDistribution).toBe('');
    expect(hinting({ annotations: auto, trafficDistribution: 'PreferClose' })).toEqual({
      topology: 'Auto',
      trafficDistribution: '',
    });
  });
});
