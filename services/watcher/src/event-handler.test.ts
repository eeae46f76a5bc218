import type { EndpointSlice, Pod } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { EventHandler, Router } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';
import type { DecodedObject, WatchedObjects } from './watched-objects.ts';

describe('event handler', () => {
  let indexer: Indexer;
  let handler: EventHandler;
  /** What the events led to: Service, reason and description. */
  let marked: string[];

  beforeEach(() => {
    indexer = new Indexer();
    marked = [];
    const router = new Router(indexer, (_, service, { kind }, { description, observedAt }) => {
      marked.push(`${service} ${kind}: ${description} at ${observedAt}`);
    });
    handler = new EventHandler(indexer, router);
  });

  /** What the action led to. */
  function marks(action: () => void): readonly string[] {
    marked.length = 0;
    action();
    return [...marked];
  }

  const decodedSlice = (name: string, resourceVersion: string, service = 'web'): DecodedObject<'endpointslices'> => {
    const { metadata, ...rest } = aSlice(name, service);
    const object: EndpointSlice = { ...rest, metadata: { ...metadata, resourceVersion } };
    return { namespace: 'shop', name, resourceVersion, object };
  };

  const decodedPod = (name: string, given: Partial<Pod> = {}): DecodedObject<'pods'> => ({
    ...{ namespace: 'shop', name, resourceVersion: '5' },
    object: aPod(name, { app: 'web' }, given),
  });

  const undecodable = (name: string) => ({ namespace: 'shop', name, resourceVersion: '9', object: undefined });

  describe('an event', () => {
    test('says whether the object was added, changed or deleted, and when that was observed', () => {
      const slice = decodedSlice('s', '5');
      expect(marks(() => handler.upsert('endpointslices', slice, 1))).toEqual([
        'web slice: EndpointSlice shop/s added at 1',
      ]);
      expect(marks(() => handler.upsert('endpointslices', slice, 2))).toEqual([
        'web slice: EndpointSlice shop/s changed at 2',
      ]);
      expect(marks(() => handler.delete('endpointslices', slice, 3))).toEqual([
        'web slice: EndpointSlice shop/s deleted at 3',
      ]);
    });

    test('of a Node that cannot be decoded concerns its Pods when it comes and when it goes', () => {
      indexer.setService(aService('web', { selector: { app: 'web' } }));
      handler.upsert('pods', decodedPod('p', { nodeName: 'n1' }), 1);
      const node = { ...undecodable('n1'), namespace: '' };
      expect(marks(() => handler.upsert('nodes', node, 2))).toEqual(['web pod: Node n1 added at 2']);
      expect(marks(() => handler.upsert('nodes', node, 3))).toEqual([]);
      expect(marks(() => handler.delete('nodes', node, 4))).toEqual(['web pod: Node n1 deleted at 4']);
    });

    test('of a slice that cannot be decoded withholds its Service until it is valid or deleted', () => {
      const slice = { ...undecodable('s'), service: 'shop/web' };
      handler.upsert('endpointslices', slice, 1);
      expect(indexer.isUndecodable('shop', 'web')).toBe(true);
      expect(marks(() => handler.upsert('endpointslices', decodedSlice('s', '10', 'db'), 2))).toEqual([
        'web snapshot: EndpointSlice shop/s added at 2',
        'db slice: EndpointSlice shop/s added at 2',
      ]);
      expect(indexer.isUndecodable('shop', 'web')).toBe(false);
      handler.delete('endpointslices', slice, 3);
      handler.upsert('endpointslices', slice, 4);
      expect(marks(() => handler.delete('endpointslices', slice, 5))).toEqual([
        'web snapshot: EndpointSlice shop/s deleted at 5',
      ]);
      expect(indexer.isUndecodable('shop', 'web')).toBe(false);
    });

    test('of an object that cannot be decoded changes nothing but that it exists', () => {
      handler.upsert('endpointslices', decodedSlice('s', '5'), 1);
      expect(marks(() => handler.upsert('endpointslices', undecodable('s'), 2))).toEqual([]);
      expect(marks(() => handler.upsert('services', undecodable('web'), 2))).toEqual([]);
      expect(indexer.isUndecodable('shop', 'web')).toBe(true);
    });

    test('that deletes a Service which could never be decoded publishes it again', () => {
      handler.upsert('services', undecodable('web'), 1);
      expect(marks(() => handler.delete('services', undecodable('web'), 2))).toEqual([
        'web snapshot: Service shop/web deleted at 2',
      ]);
      expect(marks(() => handler.delete('services', undecodable('web'), 3))).toEqual([]);
    });
  });

  describe('a Pod update', () => {
    beforeEach(() => {
      indexer.setService(aService('web'));
      handler.upsert('pods', decodedPod('p', { ports: [{ name: 'http', protocol: 'TCP', containerPort: 80 }] }), 1);
    });

    test.each<[string, Partial<Pod>, number]>([
      ['that changes nothing that endpoints depend on is no event', {}, 0],
      ['that changes a field is one', { ready: false }, 1],
      ['that removes a field is one', { ports: [] }, 1],
      ['that adds a field is one', { unready: { status: 'Unknown', reason: 'NodeLost', message: '' } }, 1],
      ['that changes a member of a field is one', { ports: [{ name: 'http', protocol: 'TCP', containerPort: 81 }] }, 1],
      ['that sets a time that was null is one', { readyTransitionTime: '2026-01-01T00:00:00Z' }, 1],
      ['that adds an address is one', { ips: ['10.1.0.1', 'fd00::1'] }, 1],
    ])('%s', (_, given, events) => {
      const ports = [{ name: 'http', protocol: 'TCP', containerPort: 80 }];
      expect(marks(() => handler.upsert('pods', decodedPod('p', { ports, ...given }), 2))).toHaveLength(events);
    });

    test('that removes a member is an event, as in the other direction', () => {
      const unready = { status: 'False', reason: 'Starting', message: '' };
      handler.upsert('pods', decodedPod('q', { unready }), 1);
      expect(marks(() => handler.upsert('pods', decodedPod('q'), 2))).toHaveLength(1);
    });

    test('that moves it to another Service by its labels is an event', () => {
      const moved = { ...decodedPod('p'), object: aPod('p', { app: 'db' }) };
      expect(marks(() => handler.upsert('pods', moved, 2))).toHaveLength(1);
    });
  });

  test('a list deletes what it lacks, whether it could be decoded or not', () => {
    indexer.setService(aService('web'));
    for (const name of ['p', 'q']) handler.upsert('pods', decodedPod(name), 1);
    handler.upsert('pods', undecodable('broken'), 1);
    handler.upsert('pods', undecodable('listed'), 1);
    expect(marks(() => handler.replace('pods', [decodedPod('q'), decodedPod('r'), undecodable('listed')], 2))).toEqual([
      'web pod: Pod shop/r added, ready at 2',
      'web pod: Pod shop/p deleted at 2',
    ]);
    expect([...indexer.namesOf('pods')].sort()).toEqual(['shop/listed', 'shop/q', 'shop/r']);
  });

  test('what is kept of an object is its last valid version, or that it exists', () => {
    const slice = decodedSlice('s', '5');
    expect(handler.kept('endpointslices', slice)).toBeUndefined();
    handler.upsert('endpointslices', undecodable('s'), 1);
    expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's' });
    handler.upsert('endpointslices', { ...undecodable('s'), service: 'shop/web' }, 1);
    expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's', service: 'shop/web' });
    handler.upsert('endpointslices', slice, 1);
    handler.upsert('endpointslices', undecodable('s'), 1);
    expect(handler.kept('endpointslices', slice)).toEqual({ namespace: 'shop', name: 's', object: slice.object });
  });

  describe('a listed object, seen last before resourceVersion 10, contradicts the index', () => {
    beforeEach(() => {
      handler.upsert('endpointslices', decodedSlice('s', '5'), 1);
    });

    test.each<[string, DecodedObject<'endpointslices'>, boolean]>([
      ['if it was written before and is not indexed', decodedSlice('t', '6'), true],
      ['if it was written at that version and is not indexed', decodedSlice('t', '10'), true],
      ['if it was written before and is indexed with another version', decodedSlice('s', '4'), true],
      ['not if it is indexed with this version', decodedSlice('s', '5'), false],
      ['not if it was written later', decodedSlice('t', '11'), false],
      ['not if it cannot be decoded', { ...undecodable('t'), resourceVersion: '6' }, false],
      ['not if no Service owns it, since only others are indexed', decodedSlice('t', '6', ''), false],
    ])('%s', (_, object, isContradiction) => {
      const name = handler.contradiction('endpointslices', [decodedSlice('s', '5'), object], '10');
      expect(name).toBe(isContradiction ? `shop/${object.name}` : undefined);
    });

    test('whatever its labels are if it is Endpoints', () => {
      const object = someEndpoints('web');
      const decoded = { namespace: 'shop', name: 'web', resourceVersion: '5', object };
      expect(handler.contradiction('endpoints', [decoded], '10')).toBe('shop/web');
      handler.upsert('endpoints', decoded, 1);
      expect(handler.contradiction('endpoints', [decoded], '10')).toBeUndefined();
    });
  });
});

describe('router', () => {
  let marked: string[];
  let handler: EventHandler;
  let indexer: Indexer;

  beforeEach(() => {
    marked = [];
    indexer = new Indexer();
    const router = new Router(indexer, (_namespace, service, reason) => {
      const { kind } = reason;
      if (kind === 'pod') marked.push(`${service}: pod ${reason.name}`);
      else if (kind === 'slice')
        marked.push(`${service}: slice ${reason.name} ${reason.uid}${reason.relabelled ? ' relabelled' : ''}`);
      else if (kind === 'endpoints') marked.push(`${service}: endpoints ${reason.uid}`);
      else marked.push(`${service}: ${kind}`);
    });
    handler = new EventHandler(indexer, router);
  });

  /** The Services and reasons that an action marks dirty. */
  function marks(action: () => void): string[] {
    marked = [];
    action();
    return marked.sort();
  }

  function upsert<R extends keyof WatchedObjects>(
    resource: R,
    namespace: string,
    name: string,
    object: WatchedObjects[R],
  ): void {
    handler.upsert(resource, { namespace, name, resourceVersion: '', object }, 1);
  }

  const put = {
    service: (name: string, given = {}) => upsert('services', 'shop', name, aService(name, given)),
    pod: (name: string, labels: Record<string, string>, given = {}) =>
      upsert('pods', 'shop', name, aPod(name, labels, given)),
    node: (name: string, zone: string, given = {}) => upsert('nodes', '', name, aNode(name, zone, given)),
    slice: (name: string, service: string, given = {}) =>
      upsert('endpointslices', 'shop', name, aSlice(name, service, given)),
  };

  const remove = (resource: keyof WatchedObjects, name: string) =>
    handler.delete(resource, { namespace: resource === 'nodes' ? '' : 'shop', name }, 1);

  describe('a Service', () => {
    test('that is new needs a snapshot', () => {
      expect(marks(() => put.service('web'))).toEqual(['web: snapshot']);
    });

    test.each([
      ['changes its labels', { labels: { team: 'x' } }, 'service'],
      ['changes its ports', { ports: [] }, 'service'],
      ['selects other Pods', { selector: { app: 'db' } }, 'snapshot'],
      ['selects fewer Pods', { selector: { app: 'web', tier: 'front' } }, 'snapshot'],
      ['selects every Pod', { selector: {} }, 'snapshot'],
      ['loses its selector', { selector: null }, 'snapshot'],
      ['is recreated under the same name', { uid: 'other' }, 'snapshot'],
    ])('that %s', (_, given, on) => {
      put.service('web');
      expect(marks(() => put.service('web', given))).toEqual([`web: ${on}`]);
    });

    test('gains a selector', () => {
      put.service('web', { selector: null });
      expect(marks(() => put.service('web'))).toEqual(['web: snapshot']);
    });

    test('is marked once when it is deleted', () => {
      put.service('web');
      expect(marks(() => remove('services', 'web'))).toEqual(['web: service']);
      expect(marks(() => remove('services', 'web'))).toEqual([]);
    });

    test('that is recreated needs a snapshot, since its Pods were not published meanwhile', () => {
      put.service('web');
      remove('services', 'web');
      expect(marks(() => put.pod('p', { app: 'web' }))).toEqual([]);
      expect(marks(() => put.service('web'))).toEqual(['web: snapshot']);
    });
  });

  describe('a Pod', () => {
    beforeEach(() => {
      put.service('web');
      put.service('db');
      put.service('all', { selector: {} });
      put.service('custom', { selector: null });
      upsert('services', 'depot', 'web', aService('web', { namespace: 'depot' }));
    });

    test('marks the Services of its namespace that select it (C8)', () => {
      expect(marks(() => put.pod('p', { app: 'web' }))).toEqual(['all: pod p', 'web: pod p']);
    });

    test('that changes its labels also marks the Services that lose it (C13)', () => {
      put.pod('p', { app: 'web' });
      expect(marks(() => put.pod('p', { app: 'db' }))).toEqual(['all: pod p', 'db: pod p', 'web: pod p']);
      expect(marks(() => put.pod('p', { app: 'mail' }))).toEqual(['all: pod p', 'db: pod p']);
    });

    test('that is deleted marks the Services that selected it', () => {
      put.pod('p', { app: 'db' });
      expect(marks(() => remove('pods', 'p'))).toEqual(['all: pod p', 'db: pod p']);
      expect(marks(() => remove('pods', 'p'))).toEqual([]);
    });
  });

  describe('a Node (E3)', () => {
    beforeEach(() => {
      put.service('web', { annotations: asksForHints });
      put.service('db');
      put.pod('web-1', { app: 'web' });
      put.pod('db-1', { app: 'db' });
      put.pod('db-2', { app: 'db' }, { nodeName: 'n2' });
    });

    test('that is added, changes its zone or is deleted marks its Pods, and the topology of Services with hints', () => {
      const both = ['db: pod db-1', 'web: pod web-1', 'web: topology'];
      expect(marks(() => put.node('n1', 'a'))).toEqual(both);
      expect(marks(() => put.node('n1', 'b'))).toEqual(both);
      expect(marks(() => remove('nodes', 'n1'))).toEqual(both);
    });

    test('marks its Pods in a recording if its condition changes', () => {
      put.node('n1', 'a', { condition: '' });
      expect(marks(() => put.node('n1', 'a', { condition: 'unschedulable' }))).toEqual([
        'db: pod db-1',
        'web: pod web-1',
      ]);
      expect(marks(() => put.node('n1', 'a', { condition: 'unschedulable' }))).toEqual([]);
    });

    test('whose readiness or CPU changes marks Services only if the zone ratios change', () => {
      put.node('n1', 'a');
      put.node('n2', 'b');
      expect(marks(() => put.node('n2', 'b', { allocatableMilliCpu: 8000 }))).toEqual(['web: topology']);
      expect(marks(() => put.node('n2', 'b', { ready: false }))).toEqual(['web: topology']);
      expect(marks(() => put.node('n2', 'b', { ready: false }))).toEqual([]);
    });
  });

  describe('a slice', () => {
    test('marks its Service, existing or not', () => {
      expect(marks(() => put.slice('s', 'web'))).toEqual(['web: slice s uid-s']);
      expect(marks(() => remove('endpointslices', 's'))).toEqual(['web: slice s uid-s']);
    });

    test('that is relabelled to another Service marks both, the first one as relabelled', () => {
      put.slice('s', 'web');
      expect(marks(() => put.slice('s', 'db'))).toEqual(['db: slice s uid-s', 'web: slice s uid-s relabelled']);
      expect(marks(() => put.slice('s', 'web'))).toEqual(['db: slice s uid-s relabelled', 'web: slice s uid-s']);
    });

    test.each([
      ['that another controller manages', { manager: 'cni' }],
      ['without a manager', { manager: '' }],
    ])('%s marks nothing; its former Service is marked when it becomes so', (_, given) => {
      expect(marks(() => put.slice('s', 'web', given))).toEqual([]);
      put.slice('s', 'web');
      expect(marks(() => put.slice('s', 'web', given))).toEqual(['web: slice s uid-s relabelled']);
      expect(marks(() => put.slice('s', 'web', given))).toEqual([]);
    });

    test('recreated for another Service is deleted for the first', () => {
      put.slice('s', 'web');
      expect(marks(() => put.slice('s', 'db', { uid: 'other' }))).toEqual(['db: slice s other', 'web: slice s uid-s']);
    });

    test('that changes from one manager to the other marks its Service', () => {
      put.slice('s', 'web');
      const manager = 'endpointslicemirroring-controller.k8s.io';
      expect(marks(() => put.slice('s', 'web', { manager }))).toEqual(['web: slice s uid-s']);
    });
  });

  test('Endpoints mark the Service of the same name, existing or not', () => {
    const given = (uid: string | undefined) =>
      marks(() =>
        uid === undefined ? remove('endpoints', 'web') : upsert('endpoints', 'shop', 'web', someEndpoints('web', uid)),
      );
    expect(given('u1')).toEqual(['web: endpoints u1']);
    expect(given('u2')).toEqual(['web: endpoints u2']);
    expect(given(undefined)).toEqual(['web: endpoints u2']);
  });

  test('a Pod that no Service selects marks Services without Pods whose selector resembles its labels', () => {
    put.service('typo', { selector: { app: 'crat' } });
    put.service('full', { selector: { app: 'cat' } });
    put.pod('cat-1', { app: 'cat' });
    expect(marks(() => put.pod('cart-1', { app: 'cart' }))).toEqual([]);
    // The first snapshot builds the index of Pods by Service.
    indexer.podsOfService('shop/typo');
    expect(marks(() => put.pod('cart-2', { app: 'cart' }))).toEqual(['typo: service']);
    expect(marks(() => put.pod('web-1', { app: 'web' }))).toEqual([]);
  });

  test.each([
    [true, true],
    [undefined, false],
  ])('Endpoints whose last write is by Sluice: %s are a watch echo: %s', (isOwnWrite, expected) => {
    const reasons: unknown[] = [];
    const router = new Router(new Indexer(), (_namespace, _service, reason) => reasons.push(reason));
    const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '5' };
    router.apply({
      ...{ resource: 'endpoints', type: 'modified', namespace: 'shop', name: 'web', observedAt: 1 },
      ...{ oldObject: undefined, newObject: { metadata, subsets: [] }, isOwnWrite },
    });
    expect(reasons).toMatchObject([{ kind: 'endpoints', isWatchEcho: expected }]);
  });

  describe('every Service that an event concerns', () => {
    test('has the same cause', () => {
      const causes = new Set<unknown>();
      const router = new Router(indexer, (_namespace, _service, _reason, cause) => causes.add(cause));
      for (const name of ['web', 'all']) put.service(name, { selector: { app: 'web' } });
      const watched = aPod('p', { app: 'web' });
      router.apply({
        ...{ resource: 'pods', type: 'added', namespace: 'shop', name: 'p', observedAt: 17 },
        ...{ oldObject: undefined, newObject: watched },
      });
      expect([...causes]).toEqual([{ description: 'Pod shop/p added, ready', observedAt: 17 }]);
    });

    test('is in the namespace of the object', () => {
      const services: string[] = [];
      const router = new Router(indexer, (namespace, service) => services.push(`${namespace}/${service}`));
      upsert('services', 'depot', 'web', aService('web', { namespace: 'depot', annotations: asksForHints }));
      upsert('pods', 'depot', 'p', aPod('p', { app: 'web' }, { namespace: 'depot' }));
      indexer.setNode(aNode('n1', 'a'));
      router.apply({
        ...{ resource: 'nodes', type: 'added', namespace: '', name: 'n1', observedAt: 1 },
        ...{ oldObject: undefined, newObject: aNode('n1', 'a') },
      });
      expect(services).toEqual(['depot/web', 'depot/web']);
    });
  });

  describe('a Pod that no Service selects', () => {
    beforeEach(() => {
      put.service('typo', { selector: { app: 'crat' } });
      indexer.podsOfService('shop/typo');
      put.pod('cart-1', { app: 'cart' });
    });

    test('marks nothing when it changes or is deleted', () => {
      expect(marks(() => put.pod('cart-1', { app: 'cart' }, { ready: false }))).toEqual([]);
      expect(marks(() => remove('pods', 'cart-1'))).toEqual([]);
    });

    test('marks no Service that has Pods, is in another namespace or has no selector', () => {
      put.service('custom', { selector: null });
      upsert('services', 'depot', 'typo', aService('typo', { namespace: 'depot', selector: { app: 'crat' } }));
      put.service('full', { selector: { app: 'cat' } });
      put.pod('cat-1', { app: 'cat' });
      expect(marks(() => put.pod('cart-2', { app: 'cart' }))).toEqual(['typo: service']);
    });
  });
});
