import { expect, test } from 'vitest';
import { markedFormat } from '../testing/marked-format.ts';
import type { LogicalServiceDetail, LogicalServiceList } from '../view/schemas.ts';
import { listServices } from './list-services.ts';
import { listLogicalServices, printLogicalService } from './print-logical-services.ts';

const now = Date.parse('2026-01-01T12:00:00');
const format = { ...markedFormat(now), width: 110 };
const endpoints = (ready: number, all: number) => ({ ready, serving: ready, terminating: 0, all });

const east = {
  ...{
    cluster: 'east-uid',
    clusterName: 'east',
    name: 'cart',
    exists: true,
    isComplete: true,
    ageMs: null,
    lostReason: null,
    counts: true,
  },
  endpoints: endpoints(2, 3),
  state: 'partly',
} as const;
const west = {
  ...{ ...east, cluster: 'west-uid', clusterName: 'west', endpoints: endpoints(1, 1) },
  ...{ ageMs: 240_000, lostReason: 'not answering' as const },
};
const lost = { type: 'LostClusterCounts', severity: 'warning', clusters: ['west'], message: 'west counts' } as const;
const missing = { type: 'MissingInCluster', severity: 'info', clusters: ['north'], message: 'not in north' } as const;
const cart = {
  namespace: 'shop',
  name: 'cart',
  endpoints: endpoints(3, 4),
  conditions: [lost, missing],
  clusters: [east, west],
  states: { partly: 1, lost: 1 },
};
const list: LogicalServiceList = {
  ...{ total: 2, counts: {}, items: [cart], lostClusters: { action: 'keep', maxAgeMs: 0 } },
  clusters: [
    { cluster: 'east-uid', clusterName: 'east', lost: null },
    { cluster: 'west-uid', clusterName: 'west', lost: { since: now - 240_000, reason: 'not answering' } },
    { cluster: 'north-uid', clusterName: 'north\u001b[2J', lost: { since: 0, reason: 'not watched' } },
  ],
};

/** With two spaces between columns. */
const lines = (text: string) => text.split('\n').map((line) => line.trimEnd().replace(/ {2,}/g, '  '));

test('lists Services below the clusters that are lost', () => {
  expect(lines(listLogicalServices(list, format, ''))).toEqual([
    '<red:west: not answering; known up to 11:56:00.000 (4m ago)>',
    '<red:north\\u001b[2J: not watched; nothing is known of it>',
    'NAMESPACE  SERVICE  READY  CLUSTERS  CONDITION  MESSAGE',
    'shop  cart  3/4  2/2  LostClusterCounts +1  west counts',
    'Showing 1 of 2 Services.',
    '',
  ]);
});

test('says that there is none', () => {
  const none = { ...list, total: 0, items: [], clusters: [] };
  expect(listLogicalServices(none, format, 'None.\n')).toBe('None.\n');
});

test('shows each cluster, what differs and what a loss means', () => {
  const zones = [
    { zone: 'a', ...endpoints(1, 2) },
    { zone: '', ...endpoints(1, 1) },
  ];
  const detail: LogicalServiceDetail = {
    ...cart,
    clusters: [
      { ...east, zones },
      { ...west, zones: [] },
      { ...east, clusterName: 'north', exists: false, counts: false, zones: [] },
      { ...east, clusterName: 'south', isComplete: false, zones: [] },
      { ...east, clusterName: 'home', counts: false, zones: [] },
    ],
    missing: ['north'],
    differences: [
      {
        field: 'ports',
        values: [
          { value: 'http 80/TCP → 8080', clusters: ['a', 'b', 'c', 'd', 'e', 'f'] },
          { value: '', clusters: ['west'] },
        ],
      },
    ],
    losses: [
      { cluster: 'east-uid', clusterName: 'east', share: 2 / 3, loadFactor: 3 },
      { cluster: 'west-uid', clusterName: 'west', share: 1, loadFactor: null },
    ],
  };
  expect(lines(printLogicalService(detail, format))).toEqual([
    '<bold:Service shop/cart in all clusters: 3 of 4 endpoints ready, in 3 of 5 clusters>',
    '<yellow:LostClusterCounts: west counts>',
    '<dim:MissingInCluster: not in north>',
    '',
    'CLUSTER  READY  SERVING  TERMINATING  ALL  ZONES  STATE',
    'east  2  2  0  3  a 1/2, unknown 1/1  watched',
    'west  1  1  0  1  not answering, 4m old, counts',
    'north  2  2  0  3  deleted, slices are left',
    'south  2  2  0  3  incomplete',
    'home  2  2  0  3  left out',
    '',
    'DIFFERS IN  VALUE  CLUSTERS',
    'ports  http 80/TCP → 8080  a, b, c, d, e, f',
    '  none  west',
    '',
    'IF LOST  OF READY  THEN',
    'east  67 %  3.0× load on each other',
    'west  100 %  none is left',
    '',
  ]);
});

const counted = { counts: {}, endpoints: { ready: 0, all: 0 } };

test('lists the Services of each cluster', () => {
  const item = {
    ...{
      cluster: 'uid',
      clusterName: 'east',
      namespace: 'shop',
      name: 'cart',
      status: 'empty' as const,
      problem: '',
      reason: 'no port',
    },
    ...{ pods: 1, endpoints: 2, ready: 0, terminating: 1, slices: 1, lastChangeAt: null, lastLatencyMs: null },
  } as const;
  expect(lines(listServices({ total: 2, ...counted, items: [item] }, format))).toEqual([
    'CLUSTER  NAMESPACE  SERVICE  STATUS  READY  SLICES  REASON',
    'east  shop  cart  empty  0/1  1  no port',
    'Showing 1 of 2 Services.',
    '',
  ]);
  expect(listServices({ total: 0, ...counted, items: [] }, format)).toBe('No such Service.\n');
  expect(lines(listServices({ total: 1, ...counted, items: [item] }, format, { servicesLimit: 7 })).at(-2)).toMatch(
    /^only 7 Services have a history \(console\.maxServices\)/,
  );
  expect(listServices({ total: 0, ...counted, items: [] }, format, { servicesLimit: 7 })).toMatch(
    /^No such Service\.\nonly 7 /,
  );
});
