import {
  type EndpointSubset,
  type Endpoints,
  endpointsManagedByLabel,
  headlessLabel,
  leaderAnnotation,
  type Mutation,
  overCapacityAnnotation,
  type PodOnNode,
  type Service,
  triggerTimeAnnotation,
} from '@sluice/model';
import { aPod, aService, httpPort, onNode, pods, someEndpoints } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { applyPlan, nothingWritten } from '../testing/apply-plan.ts';
import type { TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { countAddresses, isLeftover, reconcileEndpoints, truncateSubsets } from './controller.ts';

const settled = (service: Service): TriggerTimes => ({ service: service.creationTimestamp, pods: {} });

function mutations(
  service: Service | null,
  of: readonly PodOnNode[],
  existing: Endpoints | null,
  orphaned = false,
): Mutation[] {
  const triggers = service && settled(service);
  const { plan } = reconcileEndpoints({ service, pods: of, existing, orphaned, triggers });
  return plan.groups.flatMap((group) => group.mutations);
}

function created(service: Service, of: readonly PodOnNode[]): Endpoints {
  const [mutation, ...more] = mutations(service, of, null);
  if (mutation?.verb !== 'create' || mutation.resource !== 'endpoints' || more.length > 0) throw new Error('no create');
  return mutation.object;
}

/** The object as stored after the create. */
function stored(service: Service, of: readonly PodOnNode[]): Endpoints {
  return someEndpoints({
    ...created(service, of),
    metadata: { ...created(service, of).metadata, resourceVersion: '3' },
  });
}

describe('Endpoints of a Service', () => {
  it('are created in its namespace, which upstream omits, if there are none (D16, D17)', () => {
    expect(mutations(aService(), pods(1), null)).toMatchObject([
      { verb: 'create', resource: 'endpoints', object: { metadata: { name: 'web', namespace: 'shop' } } },
    ]);
  });

  it('list ready and not-ready Pods separately, without ineligible Pods (C3, D9, D14, D22)', () => {
    const { subsets, metadata } = created(aService({ labels: { team: 'x' } }), [
      onNode(aPod(1)),
      onNode(aPod(2, { ready: false })),
      onNode(aPod(3, { terminal: true })),
      onNode(aPod(4, { terminating: true })),
      onNode(aPod(5, { ip: '', ips: [] })),
      onNode(aPod(6, { ips: ['fd00::6'] })),
    ]);
    const target = (i: number) => ({ kind: 'Pod', namespace: 'shop', name: `web-${i}`, uid: `pod-uid-${i}` });
    expect(subsets).toEqual([
      {
        addresses: [{ ip: '10.0.0.1', nodeName: 'node-a', targetRef: target(1) }],
        notReadyAddresses: [{ ip: '10.0.0.2', nodeName: 'node-a', targetRef: target(2) }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    expect(metadata.labels).toEqual({ team: 'x', [endpointsManagedByLabel]: 'endpoint-controller' });
  });

  it('list every Pod as ready with publishNotReadyAddresses, including terminating ones (D8, D9, D14)', () => {
    const of = [onNode(aPod(1, { ready: false })), onNode(aPod(2, { terminating: true }))];
    const [subset] = created(aService({ publishNotReadyAddresses: true }), of).subsets ?? [];
    expect(subset?.addresses).toHaveLength(2);
    expect(subset?.notReadyAddresses).toBeUndefined();
  });

  it.each([
    ['the first family', { ipFamilies: ['IPv6', 'IPv4'] }, 'fd00::1'],
    ['the family of the cluster IP', { ipFamilies: [], clusterIP: 'fd00:96::1' }, 'fd00::1'],
    ['the family of the Pod', { ipFamilies: [], clusterIP: 'None' }, '10.0.0.1'],
  ])('use %s (D10)', (_, given, ip) => {
    const [subset] = created(aService(given), [onNode(aPod(1, { ips: ['10.0.0.1', 'fd00::1'] }))]).subsets ?? [];
    expect(subset?.addresses?.map((address) => address.ip)).toEqual([ip]);
  });

  it('have the name of a Node even if it is empty (D11)', () => {
    const [subset] = created(aService(), [onNode(aPod(1, { nodeName: '' }))]).subsets ?? [];
    expect(subset?.addresses).toMatchObject([{ ip: '10.0.0.1', nodeName: '' }]);
  });

  it('need no port if headless, and list no address without one otherwise (D12)', () => {
    expect(created(aService({ ports: [], clusterIP: 'None' }), pods(1)).subsets).toMatchObject([{ addresses: [{}] }]);
    expect(created(aService({ ports: [] }), pods(1)).subsets).toEqual([]);
  });

  it.each([
    ['', true],
    ['None', true],
    ['10.96.0.1', false],
  ])('are labelled as headless with the cluster IP "%s": %s (D22)', (clusterIP, headless) => {
    const { labels = {} } = created(aService({ clusterIP }), []).metadata;
    expect(Object.hasOwn(labels, headlessLabel)).toBe(headless);
  });

  it('are labelled as headless only by their own cluster IP (D22)', () => {
    const labels = { [headlessLabel]: 'mine' };
    expect(created(aService({ labels }), []).metadata.labels).not.toHaveProperty([headlessLabel]);
    expect(created(aService({ labels, clusterIP: 'None' }), []).metadata.labels?.[headlessLabel]).toBe('');
  });

  it('offer no port for a target port of zero (C5)', () => {
    const [subset] = created(aService({ ports: [{ ...httpPort, targetPort: 0 }] }), pods(1)).subsets ?? [];
    expect(subset).toMatchObject({ addresses: [{ ip: '10.0.0.0' }] });
    expect(subset?.ports).toBeUndefined();
  });

  it('are split by the numbers of named ports (C5, D13)', () => {
    const named = (containerPort: number) => ({ ports: [{ name: 'http', protocol: 'TCP', containerPort }] });
    const service = aService({ ports: [{ ...httpPort, targetPort: 'http' }] });
    const of = [onNode(aPod(1, named(8080))), onNode(aPod(2, named(9090))), onNode(aPod(3))];
    const numbers = created(service, of).subsets?.map(({ ports }) => ports?.map(({ port }) => port));
    expect(numbers?.flat().sort()).toEqual([8080, 9090]);
  });

  it('have the name, protocol and application protocol of each port (D13)', () => {
    const ports = [{ ...httpPort, appProtocol: 'h2c' }];
    const [subset] = created(aService({ ports }), pods(1)).subsets ?? [];
    expect(subset?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'h2c' }]);
  });

  it('have one subset for ports with the same addresses (D15)', () => {
    const service = aService({ ports: [httpPort, { ...httpPort, name: 'https', targetPort: 443 }] });
    const { subsets } = created(service, pods(2));
    expect(subsets).toHaveLength(1);
    expect(subsets?.[0]?.ports?.map(({ port }) => port).sort()).toEqual([443, 8080]);
  });

  it('are truncated at 1000 addresses and annotated (D27, D22)', () => {
    const object = created(aService(), pods(1200));
    expect(object.subsets?.[0]?.addresses).toHaveLength(1000);
    expect(object.metadata.annotations).toMatchObject({ [overCapacityAnnotation]: 'truncated' });
  });

  it('carry the trigger time, and lose it when there is none (C18)', () => {
    const service = aService();
    const first = reconcileEndpoints({ service, pods: pods(1), existing: null, orphaned: false, triggers: null });
    const { endpoints } = applyPlan(nothingWritten, first.plan);
    const existing = endpoints.get('web') ?? null;
    expect(existing?.metadata.annotations).toEqual({ [triggerTimeAnnotation]: service.creationTimestamp });
    const second = reconcileEndpoints({ service, pods: [], existing, orphaned: false, triggers: first.triggers });
    const after = applyPlan({ ...nothingWritten, endpoints }, second.plan).endpoints.get('web');
    expect(after?.metadata.annotations).toEqual({});
    expect(second.triggers?.pods).toEqual({});
  });
});

describe('existing Endpoints', () => {
  const service = aService();

  it('are unchanged if correct, whatever their order or annotations (D19, K6)', () => {
    const right = stored(service, pods(3));
    const [subset] = right.subsets ?? [];
    const addresses = [...(subset?.addresses ?? [])].reverse();
    const reordered = { ...right, subsets: [{ ...subset, addresses }] };
    expect(mutations(service, pods(3), right)).toEqual([]);
    expect(mutations(service, pods(3), reordered)).toEqual([]);
    expect(
      mutations(service, pods(3), { ...right, metadata: { ...right.metadata, annotations: { note: 'x' } } }),
    ).toEqual([]);
  });

  it('keep other annotations and carry a precondition when updated (D22, D23)', () => {
    const existing = someEndpoints({
      metadata: { name: 'web', namespace: 'shop', resourceVersion: '3', annotations: { note: 'x' } },
    });
    expect(mutations(service, pods(1), existing)).toMatchObject([
      { verb: 'update', object: { metadata: { resourceVersion: '3', annotations: { note: 'x' } } } },
    ]);
  });

  it.each<[string, Endpoints['metadata']['labels']]>([
    ['lacks the manager', { team: 'x' }],
    ['has another manager', { team: 'x', [endpointsManagedByLabel]: 'me' }],
    ['lacks a label of the Service', { [endpointsManagedByLabel]: 'endpoint-controller' }],
    ['has a label of its own', { team: 'x', own: 'y', [endpointsManagedByLabel]: 'endpoint-controller' }],
  ])('are updated if their set of labels %s (D20)', (_, labels) => {
    const labelled = aService({ labels: { team: 'x' } });
    const right = stored(labelled, pods(1));
    const wrong = { ...right, metadata: { ...right.metadata, ...(labels && { labels }) } };
    expect(mutations(labelled, pods(1), wrong)).toMatchObject([
      { verb: 'update', object: { metadata: { labels: right.metadata.labels } } },
    ]);
    expect(mutations(labelled, pods(1), right)).toEqual([]);
  });

  it('lose the capacity annotation once all addresses fit (D21)', () => {
    const right = stored(service, pods(3));
    const annotations = { ...right.metadata.annotations, [overCapacityAnnotation]: 'truncated' };
    const [update] = mutations(service, pods(3), { ...right, metadata: { ...right.metadata, annotations } });
    expect(update).toMatchObject({ verb: 'update', object: { metadata: { annotations: {} } } });
    expect(JSON.stringify(update)).not.toContain(overCapacityAnnotation);
  });

  it.each<[string, Partial<Service>]>([
    ['no selector', { selector: null }],
    ['an external name', { type: 'ExternalName' }],
  ])('stay with %s (D6)', (_, given) => {
    expect(mutations(aService(given), pods(1), someEndpoints())).toEqual([]);
  });

  it('are deleted with their Service, and only then (D5)', () => {
    expect(mutations(null, [], someEndpoints(), false)).toEqual([]);
    expect(mutations(null, [], null, true)).toEqual([]);
    expect(mutations(null, [], someEndpoints(), true)).toEqual([
      { verb: 'delete', resource: 'endpoints', name: 'web', uid: 'endpoints-uid', resourceVersion: '3' },
    ]);
  });

  it('are deleted in the version that is known, without Events', () => {
    const existing = { metadata: { name: 'web', namespace: 'shop' } };
    const { plan } = reconcileEndpoints({ service: null, pods: [], existing, orphaned: true, triggers: null });
    const deletion = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(plan).toStrictEqual({ groups: [{ mutations: [deletion] }], events: [], incomplete: [] });
  });

  it.each<[string, Partial<Service>, number]>([
    ['a reserved label on the Service', { labels: { [endpointsManagedByLabel]: 'me' } }, 1],
    ['a truncated list', {}, 1200],
  ])('are not rewritten without effect with %s (D20, D21, K5)', (_, given, count) => {
    const odd = aService(given);
    expect(mutations(odd, pods(count), stored(odd, pods(count)))).toEqual([]);
  });
});

const list = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
const port = { port: 80 };
/** A subset with so many ready and other addresses; null for a list that is missing. */
const subset = (ready: number | null, notReady: number | null = null): EndpointSubset => ({
  ...(ready !== null && { addresses: list(ready) }),
  ...(notReady !== null && { notReadyAddresses: list(notReady) }),
  ports: [port],
});
type Numbers = readonly [number | null, (number | null)?];

/** Numbers of ready and other addresses that are left. */
function truncated(...numbers: readonly Numbers[]) {
  const { truncated: isTruncated, subsets } = truncateSubsets(numbers.map((one) => subset(...one)));
  for (const { ports } of subsets) expect(ports).toEqual([port]);
  expect(isTruncated).toBe(true);
  return subsets.map((one) => [one.addresses?.length, one.notReadyAddresses?.length]);
}

describe('the addresses of Endpoints (D27, D28)', () => {
  it.each<readonly Numbers[][]>([[[]], [[[1000]]], [[[null, 1000]]], [[[500], [499, 1]]]])(
    'are all kept if there are at most 1000: %j',
    (numbers) => {
      const subsets = numbers.map((one) => subset(...one));
      expect(truncateSubsets(subsets)).toEqual({ truncated: false, subsets });
      expect(truncateSubsets(subsets).subsets).toBe(subsets);
    },
  );

  it('are cut at 1000, those that are not ready first', () => {
    expect(truncated([600, 401])).toEqual([[600, 400]]);
    expect(truncated([1000, 1])).toEqual([[1000, 0]]);
    expect(truncated([1001, 5])).toEqual([[1000, undefined]]);
    expect(truncated([null, 1001])).toEqual([[undefined, 1000]]);
  });

  it('are cut in proportion over all subsets, rounded up until none is left', () => {
    expect(truncated([700], [700], [100])).toEqual([
      [467, undefined],
      [467, undefined],
      [66, undefined],
    ]);
    expect(truncated([400, 900], [null, 300], [100])).toEqual([
      [400, 375],
      [undefined, 125],
      [100, undefined],
    ]);
    expect(truncated([999], [999], [1])[2]).toEqual([0, undefined]);
  });

  it('that are kept are the first ones', () => {
    const { subsets } = truncateSubsets([subset(1100)]);
    expect(subsets[0]?.addresses).toEqual(list(1000));
  });

  it('count ready and not ready', () => {
    expect(countAddresses([subset(2, 3), subset(null, 4), subset(5), {}])).toBe(14);
  });
});

const annotated = someEndpoints({
  metadata: { name: 'web', namespace: 'shop', annotations: { [leaderAnnotation]: '' } },
});

it('Endpoints are left over without a Service, unless leader election uses them (D4)', () => {
  expect([isLeftover(someEndpoints(), null), isLeftover(someEndpoints(), undefined)]).toEqual([true, true]);
  expect(isLeftover(someEndpoints(), aService())).toBe(false);
  expect(isLeftover(annotated, null)).toBe(false);
  expect(isLeftover(undefined, null)).toBe(false);
});
