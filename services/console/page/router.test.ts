import { afterEach, expect, test } from 'vitest';
import { setClusterNames } from './cluster-names.ts';
import { noLogicalFilter } from './logical-service-filter.ts';
import { parseRoute, pathOf, type Route } from './router.ts';
import { noFilter } from './service-filter.ts';

afterEach(() => setClusterNames([]));

const parsed = (path: string) => {
  const { pathname, search } = new URL(path, 'http://localhost');
  return parseRoute({ pathname, search });
};
const service = { cluster: 'prod', namespace: 'shop', name: 'cart' };
const range = { since: 1_000, until: 9_000 };

const routes: readonly (readonly [string, Route])[] = [
  ['/services/prod/shop/cart', { view: 'service', service }],
  [
    '/services/prod/shop/cart?at=5000&since=1000&until=9000&pod=cart-1',
    { view: 'service', service, at: 5_000, range, pod: 'cart-1' },
  ],
  ['/logical-services', { view: 'logicalServices', filter: noLogicalFilter }],
  [
    '/logical-services?q=shop%2F&condition=NotServed&without=west+1',
    {
      view: 'logicalServices',
      filter: { ...noLogicalFilter, q: 'shop/', condition: 'NotServed', without: 'west 1' },
    },
  ],
  ['/logical-services/shop/cart', { view: 'logicalService', namespace: 'shop', name: 'cart' }],
  [
    '/logical-services/shop/cart?without=west',
    { view: 'logicalService', namespace: 'shop', name: 'cart', without: 'west' },
  ],
  ['/recording/problems?period=6h', { view: 'recording', question: 'problems', period: '6h' }],
  [
    '/recording/outages?since=1000&until=9000&period=1h&cluster=prod',
    { view: 'recording', question: 'outages', period: '1h', range, cluster: 'prod' },
  ],
];

test.each(routes)('%s leads to the same view on another machine', (path, route) => {
  expect(pathOf(route)).toBe(path);
  expect(parsed(path)).toEqual(route);
});

test('a path without a cluster opens the Service of the only cluster that has it', () => {
  const expected = { view: 'logicalService', namespace: 'shop', name: 'cart', opensOnly: true };
  expect(parsed('/services/shop/cart')).toEqual(expected);
});

test('half of a range and one that ends before it starts are ignored', () => {
  expect(parsed('/services/prod/shop/cart?since=1000')).toEqual({ view: 'service', service });
  expect(parsed('/services/prod/shop/cart?since=9000&until=1000')).toEqual({ view: 'service', service });
});

test('a cluster has its name in a URL, unless others have the same name', () => {
  setClusterNames([
    { identity: 'uid-1', name: 'east' },
    { identity: 'uid-2', name: 'west' },
    { identity: 'uid-3', name: 'west' },
  ]);
  const pathIn = (cluster: string) => pathOf({ view: 'service', service: { ...service, cluster } });
  expect(['uid-1', 'east', 'uid-2', 'unknown'].map(pathIn)).toEqual(
    ['east', 'east', 'uid-2', 'unknown'].map((cluster) => `/services/${cluster}/shop/cart`),
  );
  expect(pathOf({ view: 'services', filter: { ...noFilter, cluster: 'uid-1' } })).toBe('/?cluster=east');
});
