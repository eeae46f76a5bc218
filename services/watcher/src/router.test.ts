import { beforeEach, describe, expect, test } from 'vitest';
import { EventHandler } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import type { WatchedObjects } from './object-event.ts';
import { Router } from './router.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';

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
