import { beforeEach, describe, expect, test } from 'vitest';
import { Inventory } from './inventory.ts';
import { Router } from './router.ts';
import { aNode, aPod, aService, aSlice, asksForHints, someEndpoints } from './testing/objects.ts';

const cause = { description: 'test', observedAt: 1 };
let marked: string[];
let router: Router;

beforeEach(() => {
  marked = [];
  router = new Router(new Inventory(), (_namespace, service, mark) => {
    const { on } = mark;
    if (on === 'pod') marked.push(`${service}: pod ${mark.name}`);
    else if (on === 'slice')
      marked.push(`${service}: slice ${mark.name} ${mark.uid}${mark.relabelled ? ' elsewhere' : ''}`);
    else if (on === 'endpoints') marked.push(`${service}: endpoints ${mark.uid}`);
    else marked.push(`${service}: ${on}`);
  });
});

/** What a step marks. */
function marks(step: () => void): string[] {
  marked = [];
  step();
  return marked.sort();
}

const put = {
  service: (name: string, given = {}) => router.service('shop', name, aService(name, given), cause),
  pod: (name: string, labels: Record<string, string>, given = {}) =>
    router.pod('shop', name, aPod(name, labels, given), cause),
  node: (name: string, zone: string, given = {}) => router.node(name, aNode(name, zone, given), cause),
  slice: (name: string, service: string, given = {}) => router.slice('shop', name, aSlice(name, service, given), cause),
};

describe('a Service', () => {
  test('that is new is told whole', () => {
    expect(marks(() => put.service('web'))).toEqual(['web: snapshot']);
  });

  test.each([
    ['changes its labels', { labels: { team: 'x' } }, 'service'],
    ['changes its ports', { ports: [] }, 'service'],
    ['selects other Pods', { selector: { app: 'db' } }, 'snapshot'],
    ['selects fewer Pods', { selector: { app: 'web', tier: 'front' } }, 'snapshot'],
    ['selects every Pod', { selector: {} }, 'snapshot'],
    ['loses its selector', { selector: null }, 'snapshot'],
    ['is another of the same name', { uid: 'other' }, 'snapshot'],
  ])('that %s', (_, given, on) => {
    put.service('web');
    expect(marks(() => put.service('web', given))).toEqual([`web: ${on}`]);
  });

  test('gains a selector', () => {
    put.service('web', { selector: null });
    expect(marks(() => put.service('web'))).toEqual(['web: snapshot']);
  });

  test('that goes is told; one that was not known is not', () => {
    put.service('web');
    expect(marks(() => router.service('shop', 'web', undefined, cause))).toEqual(['web: service']);
    expect(marks(() => router.service('shop', 'web', undefined, cause))).toEqual([]);
  });

  test('that returns is told whole, for its Pods were not told meanwhile', () => {
    put.service('web');
    router.service('shop', 'web', undefined, cause);
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
    router.service('depot', 'web', aService('web', { namespace: 'depot' }), cause);
  });

  test('is told to the Services of its namespace that select it (C8)', () => {
    expect(marks(() => put.pod('p', { app: 'web' }))).toEqual(['all: pod p', 'web: pod p']);
  });

  test('that changes its labels is told to those that lose it as well (C13)', () => {
    put.pod('p', { app: 'web' });
    expect(marks(() => put.pod('p', { app: 'db' }))).toEqual(['all: pod p', 'db: pod p', 'web: pod p']);
    expect(marks(() => put.pod('p', { app: 'mail' }))).toEqual(['all: pod p', 'db: pod p']);
  });

  test('that goes is told to those that had it', () => {
    put.pod('p', { app: 'db' });
    expect(marks(() => router.pod('shop', 'p', undefined, cause))).toEqual(['all: pod p', 'db: pod p']);
    expect(marks(() => router.pod('shop', 'p', undefined, cause))).toEqual([]);
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

  test('that comes, moves to another zone or goes is told with the Pods on it; hints only to whom asked', () => {
    const both = ['db: pod db-1', 'web: pod web-1', 'web: topology'];
    expect(marks(() => put.node('n1', 'a'))).toEqual(both);
    expect(marks(() => put.node('n1', 'b'))).toEqual(both);
    expect(marks(() => router.node('n1', undefined, cause))).toEqual(both);
  });

  test('whose readiness or CPU changes is told only where the zone ratios change', () => {
    put.node('n1', 'a');
    put.node('n2', 'b');
    expect(marks(() => put.node('n2', 'b', { allocatableMilliCpu: 8000 }))).toEqual(['web: topology']);
    expect(marks(() => put.node('n2', 'b', { ready: false }))).toEqual(['web: topology']);
    expect(marks(() => put.node('n2', 'b', { ready: false }))).toEqual([]);
  });
});

describe('a slice', () => {
  test('is told to its Service, existing or not', () => {
    expect(marks(() => put.slice('s', 'web'))).toEqual(['web: slice s uid-s']);
    expect(marks(() => router.slice('shop', 's', undefined, cause))).toEqual(['web: slice s uid-s']);
  });

  test('that is relabelled to another Service is told to both: to the first, that it is elsewhere', () => {
    put.slice('s', 'web');
    expect(marks(() => put.slice('s', 'db'))).toEqual(['db: slice s uid-s', 'web: slice s uid-s elsewhere']);
    expect(marks(() => put.slice('s', 'web'))).toEqual(['db: slice s uid-s elsewhere', 'web: slice s uid-s']);
  });

  test.each([
    ['that another controller manages', { manager: 'cni' }],
    ['that nobody manages', { manager: '' }],
  ])('%s concerns nobody; its Service hears when it becomes so', (_, given) => {
    expect(marks(() => put.slice('s', 'web', given))).toEqual([]);
    put.slice('s', 'web');
    expect(marks(() => put.slice('s', 'web', given))).toEqual(['web: slice s uid-s elsewhere']);
    expect(marks(() => put.slice('s', 'web', given))).toEqual([]);
  });

  test('of the same name, made anew for another Service, means that the first is gone', () => {
    put.slice('s', 'web');
    expect(marks(() => put.slice('s', 'db', { uid: 'other' }))).toEqual(['db: slice s other', 'web: slice s uid-s']);
  });

  test('goes over to the other manager', () => {
    put.slice('s', 'web');
    const manager = 'endpointslicemirroring-controller.k8s.io';
    expect(marks(() => put.slice('s', 'web', { manager }))).toEqual(['web: slice s uid-s']);
  });
});

test('Endpoints are told to the Service of their name, also when there is none', () => {
  const given = (uid: string | undefined) =>
    marks(() => router.endpoints('shop', 'web', uid === undefined ? undefined : someEndpoints('web', uid), cause));
  expect(given('u1')).toEqual(['web: endpoints u1']);
  expect(given('u2')).toEqual(['web: endpoints u2']);
  expect(given(undefined)).toEqual(['web: endpoints u2']);
});
