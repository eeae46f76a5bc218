import type { Resource } from '@sluice/kubernetes';
import { beforeEach, describe, expect, test } from 'vitest';
import { Indexer } from './indexer.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';
import { type ObjectEvent, serviceOfSlice, type WatchedObjects } from './watched-objects.ts';

let indexer: Indexer;

beforeEach(() => {
  indexer = new Indexer();
});

const objects: WatchedObjects = {
  services: aService('x'),
  pods: aPod('x', {}),
  nodes: aNode('x', 'a'),
  endpoints: someEndpoints('x'),
  endpointslices: aSlice('x', 'web'),
};
const resources = Object.keys(objects) as readonly Resource[];
const namespaceOf = (resource: Resource) => (resource === 'nodes' ? '' : 'shop');
const names = () => resources.map((resource) => [...indexer.namesOf(resource)]);

function apply(resource: Resource, newObject: WatchedObjects[Resource] | undefined): void {
  const given = { resource, namespace: namespaceOf(resource), name: 'x', newObject };
  indexer.apply({ ...given, type: 'modified', oldObject: undefined, observedAt: 1 } as ObjectEvent);
}

describe.each(resources)('an object of %s', (resource) => {
  const namespace = namespaceOf(resource);

  test('is found by its name until it is deleted', () => {
    apply(resource, objects[resource]);
    expect(indexer.get(resource, namespace, 'x')).toBe(objects[resource]);
    expect(indexer.get(resource, namespace, 'y')).toBeUndefined();
    expect(names()).toEqual(resources.map((of) => (of === resource ? [`${namespace}/x`] : [])));
    apply(resource, undefined);
    expect(indexer.get(resource, namespace, 'x')).toBeUndefined();
    expect(names().flat()).toEqual([]);
  });

  test('that cannot be decoded exists until it is valid or deleted', () => {
    for (const next of [objects[resource], undefined]) {
      apply(resource, undefined);
      indexer.addUndecodable(resource, namespace, 'x');
      expect(indexer.hasUndecodable(resource, namespace, 'x')).toBe(true);
      expect(names()).toEqual(resources.map((of) => (of === resource ? [`${namespace}/x`] : [])));
      apply(resource, next);
      expect(indexer.hasUndecodable(resource, namespace, 'x')).toBe(false);
    }
  });

  test('that can no longer be decoded keeps its last valid version', () => {
    apply(resource, objects[resource]);
    indexer.addUndecodable(resource, namespace, 'x');
    expect(indexer.hasUndecodable(resource, namespace, 'x')).toBe(false);
    expect(indexer.get(resource, namespace, 'x')).toBe(objects[resource]);
  });
});

describe('a Service is undecodable', () => {
  test.each<[string, () => void, boolean]>([
    ['if it cannot be decoded', () => indexer.addUndecodable('services', 'shop', 'web'), true],
    [
      'if a slice of it cannot be decoded',
      () => indexer.addUndecodable('endpointslices', 'shop', 's', 'shop/web'),
      true,
    ],
    [
      'not if a slice of another one cannot',
      () => indexer.addUndecodable('endpointslices', 'shop', 's', 'shop/db'),
      false,
    ],
    ['never because another one is', () => indexer.addUndecodable('services', 'shop', 'db'), false],
    ['if its Endpoints are mirrored and cannot be decoded', () => endpointsOf(null), true],
    ['not if it has a selector and its Endpoints cannot be decoded', () => endpointsOf({ app: 'web' }), false],
    ['not if it selects all Pods and its Endpoints cannot be decoded', () => endpointsOf({}), false],
    ['not if it does not exist and its Endpoints cannot be decoded', () => endpointsOf(undefined), false],
  ])('%s', (_, arrange, expected) => {
    arrange();
    expect(indexer.isUndecodable('shop', 'web')).toBe(expected);
  });

  function endpointsOf(selector: Record<string, string> | null | undefined): void {
    if (selector !== undefined) indexer.setService(aService('web', { selector }));
    indexer.addUndecodable('endpoints', 'shop', 'web');
  }
});

describe('a Service exists', () => {
  test.each<[string, () => void, () => void]>([
    ['itself', () => indexer.setService(aService('web')), () => indexer.deleteService('shop', 'web')],
    [
      'by its Endpoints',
      () => indexer.endpoints.set('shop/web', someEndpoints('web')),
      () => indexer.endpoints.clear(),
    ],
    ['by a slice', () => indexer.setSlice(aSlice('s', 'web')), () => indexer.deleteSlice('shop', 's')],
  ])('%s', (_, add, remove) => {
    expect(indexer.has('shop', 'web')).toBe(false);
    add();
    expect([indexer.has('shop', 'web'), indexer.has('shop', 'db')]).toEqual([true, false]);
    expect([...indexer.serviceNames()]).toEqual(['shop/web']);
    remove();
    expect([indexer.has('shop', 'web'), indexer.serviceNames().size]).toEqual([false, 0]);
  });
});

describe('slices', () => {
  const slicesOf = (service: string) => [...indexer.slicesOfService(service).keys()];

  test('are found by their Service, and move with their label', () => {
    indexer.setSlice(aSlice('s', 'web'));
    indexer.setSlice(aSlice('t', 'web'));
    expect([slicesOf('shop/web'), slicesOf('shop/db')]).toEqual([['s', 't'], []]);
    indexer.setSlice(aSlice('s', 'db'));
    expect([slicesOf('shop/web'), slicesOf('shop/db')]).toEqual([['t'], ['s']]);
    indexer.deleteSlice('shop', 't');
    indexer.deleteSlice('shop', 'never-seen');
    expect([slicesOf('shop/web'), slicesOf('shop/db')]).toEqual([[], ['s']]);
    expect([...indexer.serviceNames()]).toEqual(['shop/db']);
  });

  test('are kept of the two controllers only', () => {
    indexer.setSlice(aSlice('s', 'web', { manager: 'endpointslicemirroring-controller.k8s.io' }));
    expect(slicesOf('shop/web')).toEqual(['s']);
    indexer.setSlice(aSlice('s', 'web', { manager: 'cilium' }));
    expect([slicesOf('shop/web'), indexer.get('endpointslices', 'shop', 's')]).toEqual([[], undefined]);
  });

  test('belong to no Service without a label that names one', () => {
    const { metadata, ...rest } = aSlice('s', 'web');
    expect(serviceOfSlice({ ...rest, metadata })).toBe('shop/web');
    expect(serviceOfSlice(aSlice('s', ''))).toBeUndefined();
    const { labels: _, ...unlabelled } = metadata;
    expect(serviceOfSlice({ ...rest, metadata: unlabelled })).toBeUndefined();
  });
});

describe('Pods', () => {
  const podsOn = (node: string) => [...indexer.podsOnNode(node)].map(({ pod }) => pod.name);
  const podsOf = (service: string) => [...indexer.podsOfService(service).keys()];

  test('are found by their Node, once they have one, and until they leave it', () => {
    indexer.setPod(aPod('p', {}, { nodeName: '' }));
    expect(podsOn('')).toEqual([]);
    indexer.setPod(aPod('p', {}));
    indexer.setPod(aPod('q', {}));
    expect([podsOn('n1'), podsOn('n2')]).toEqual([['p', 'q'], []]);
    indexer.setPod(aPod('p', {}, { nodeName: 'n2' }));
    indexer.deletePod('shop', 'q');
    expect([podsOn('n1'), podsOn('n2')]).toEqual([[], ['p']]);
  });

  test('of one name in two namespaces are two Pods', () => {
    indexer.setPod(aPod('p', { app: 'web' }));
    indexer.setPod(aPod('p', { app: 'web' }, { namespace: 'depot' }));
    indexer.setService(aService('web'));
    expect(podsOf('shop/web')).toEqual(['p']);
    indexer.deletePod('shop', 'p');
    expect(podsOf('shop/web')).toEqual([]);
    expect([...indexer.namesOf('pods')]).toEqual(['depot/p']);
  });

  test('of a deleted Service are not found anymore', () => {
    indexer.setPod(aPod('p', { app: 'web' }));
    indexer.setService(aService('web'));
    expect(podsOf('shop/web')).toEqual(['p']);
    indexer.deleteService('shop', 'web');
    expect(podsOf('shop/web')).toEqual([]);
  });
});

describe('the topology', () => {
  test('counts as that of one zone before the first Node, and as insufficient after the last', () => {
    expect(indexer.topology).toEqual({ zoneRatios: {}, nodesByZone: {} });
    indexer.setNode(aNode('n1', 'a'));
    expect(indexer.topology.nodesByZone).toEqual({ a: 1 });
    indexer.deleteNode('n1');
    expect(indexer.topology).not.toEqual({ zoneRatios: {}, nodesByZone: {} });
  });

  test('follows the Nodes, and is the same object until they change', () => {
    indexer.setNode(aNode('n1', 'a'));
    indexer.setNode(aNode('n2', 'b'));
    const { topology } = indexer;
    expect(topology.nodesByZone).toEqual({ a: 1, b: 1 });
    expect(indexer.topology).toBe(topology);
    indexer.setNode(aNode('n2', 'a'));
    expect(indexer.topology.nodesByZone).toEqual({ a: 2 });
  });

  test('concerns Services that ask for hints, while they do', () => {
    indexer.setService(aService('web', { annotations: asksForHints }));
    indexer.setService(aService('db'));
    expect([...indexer.hintedServices]).toEqual(['shop/web']);
    indexer.setService(aService('web'));
    expect(indexer.hintedServices.size).toBe(0);
    indexer.setService(aService('web', { annotations: asksForHints }));
    indexer.deleteService('shop', 'web');
    expect(indexer.hintedServices.size).toBe(0);
  });
});
