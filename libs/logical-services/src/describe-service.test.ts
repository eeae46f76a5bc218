import { aService, httpPort } from '@sluice/model/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conditionsOf } from './conditions.ts';
import { type DescribeOptions, describeService, type LostClusterPolicy } from './describe-service.ts';
import { LogicalServices } from './logical-services.ts';
import { lossesOf } from './service-loss.ts';
import { servingStatesOf } from './serving-state.ts';
import type { LostReason } from './terms/index.ts';
import { ClusterLog, endpoint, served, type TestService } from './testing/cluster-log.ts';

const keep: LostClusterPolicy = { action: 'keep', maxAgeMs: 0 };
const now = 1_000_000;

const cluster = (name: string, since: number | null = null, reason: LostReason = 'not answering') => ({
  ...{ identity: name, name },
  lost: since === null ? null : { since, reason },
});
const pods = (count: number, ready = true) => Array.from({ length: count }, (_, i) => endpoint(`pod-${i}`, ready));

/** Describes shop/web, which each cluster has as given. */
function describe(given: Readonly<Record<string, TestService>>, options: Partial<DescribeOptions> = {}) {
  const services = new LogicalServices();
  for (const [name, service] of Object.entries(given)) {
    const log = new ClusterLog(name);
    log.snapshot('web', service);
    for (const { key, message } of log.records) services.apply(key, message, 0);
  }
  const service = services.get('shop', 'web');
  if (service === undefined) throw new Error('shop/web does not exist');
  const clusters = Object.keys(given).map((name) => cluster(name));
  return describeService(service, { clusters, policy: keep, now, ...options });
}

const conditions = (...args: Parameters<typeof describe>) =>
  conditionsOf(describe(...args)).map(({ type, clusters }) => [type, clusters]);

test.each<[LostClusterPolicy, counts: boolean]>([
  [keep, true],
  [{ action: 'drop', maxAgeMs: 100_000 }, false],
  [{ action: 'age-out', maxAgeMs: 100_001 }, true],
  [{ action: 'age-out', maxAgeMs: 100_000 }, false],
])('endpoints of a lost cluster with the policy %j count: %s', (policy, counts) => {
  const clusters = [cluster('east'), cluster('west', now - 100_000)];
  const view = describe({ east: served(pods(1)), west: served(pods(2)) }, { clusters, policy });
  expect(view.clusters[1]).toMatchObject({ clusterName: 'west', ageMs: 100_000, counts, endpoints: { ready: 2 } });
  expect(view.endpoints.ready).toBe(counts ? 3 : 1);
  // A lost cluster may have got the Service since.
  expect(view.missing).toEqual([]);
});

test('nothing is known of a cluster that the fleet does not name', () => {
  const view = describe({ east: served(pods(1)) }, { clusters: [], policy: { action: 'age-out', maxAgeMs: 60_000 } });
  expect(view.clusters).toMatchObject([{ clusterName: 'east', ageMs: now, lostReason: 'not watched', counts: false }]);
});

test('what is shown of a cluster is never older than it says', () => {
  fc.assert(
    fc.property(fc.nat(2 * now), (lostSince) => {
      const [one] = describe({ east: served(pods(1)) }, { clusters: [cluster('east', lostSince)] }).clusters;
      expect(one?.ageMs).toBe(Math.max(0, now - lostSince));
    }),
  );
});

test('names what differs and where, from the value of most clusters on', () => {
  const other = served(pods(1), { ports: [{ ...httpPort, targetPort: 9090 }], trafficDistribution: 'PreferClose' });
  const { differences } = describe({ a: served(pods(1)), b: other, c: served(pods(1)) });
  expect(differences).toEqual([
    {
      field: 'ports',
      values: [
        { value: 'http 80/TCP → 8080', clusters: ['a', 'c'] },
        { value: 'http 80/TCP → 9090', clusters: ['b'] },
      ],
    },
    {
      field: 'trafficDistribution',
      values: [
        { value: '', clusters: ['a', 'c'] },
        { value: 'PreferClose', clusters: ['b'] },
      ],
    },
  ]);
});

test('names traffic policies, of which the default is left out', () => {
  const local = served(pods(1), { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' });
  const { differences } = describe({ a: served(pods(1)), b: local });
  expect(differences.map(({ field, values }) => [field, ...values.map(({ value }) => value)])).toEqual([
    ['internalTrafficPolicy', 'Cluster', 'Local'],
    ['externalTrafficPolicy', 'Cluster', 'Local'],
  ]);
  expect(conditions({ a: served(pods(1)), b: local })).toEqual([['SpecDiffers', ['b']]]);
});

test('what is another in each cluster by nature is no difference', () => {
  const [a, b] = [
    { uid: 'a', clusterIP: '10.0.0.1' },
    { uid: 'b', clusterIP: '10.0.0.2', creationTimestamp: '' },
  ];
  expect(describe({ a: served([], a), b: served([], b) }).differences).toEqual([]);
  const headless = { clusterIP: 'None' };
  expect(describe({ a: served([], a), b: served([], headless) }).differences).toMatchObject([{ field: 'type' }]);
});

test('clusters that serve alike need nothing', () => {
  expect(conditions({ east: served(pods(1)), west: served(pods(2)) })).toEqual([]);
  expect(conditions({ east: served([], { selector: null }), west: served([], { type: 'ExternalName' }) })).toEqual([
    ['SpecDiffers', ['west']],
  ]);
});

test('no cluster, or one of several, serves the Service', () => {
  const none = served(pods(2, false));
  expect(conditions({ east: none, west: none })).toEqual([['NotServed', ['east', 'west']]]);
  expect(conditions({ east: none, west: served(pods(1)) })).toEqual([
    ['ServedByOneCluster', ['west']],
    ['NoReadyEndpointsInCluster', ['east']],
  ]);
  expect(conditions({ a: none, b: served(pods(1)), c: served(pods(1)) })).toEqual([
    ['NoReadyEndpointsInCluster', ['a']],
  ]);
});

test('a lost cluster is not taken for one without endpoints', () => {
  const clusters = [cluster('east'), cluster('west', 0)];
  const given = { east: served(pods(1)), west: served(pods(1)) };
  expect(conditions(given, { clusters })).toEqual([['LostClusterCounts', ['west']]]);
  const policy = { action: 'drop', maxAgeMs: 0 } as const;
  expect(conditions(given, { clusters, policy })).toEqual([['ServedByOneCluster', ['east']]]);
});

test('says why the last known endpoints of lost clusters count', () => {
  const clusters = [cluster('east'), cluster('north', 0), cluster('west', 0, 'not watched')];
  const messageWith = (...names: readonly string[]) =>
    conditionsOf(describe(Object.fromEntries(names.map((name) => [name, served(pods(1))])), { clusters })).find(
      ({ type }) => type === 'LostClusterCounts',
    )?.message;
  expect(messageWith('east', 'west')).toBe('last known endpoints of west count; not watched');
  expect(messageWith('north', 'west')).toBe(
    'last known endpoints of north and west count; not answering or not watched',
  );
});

test('a Service that a watched cluster does not have is missing there', () => {
  const clusters = [cluster('east'), cluster('north'), cluster('west', 0)];
  const [condition] = conditionsOf(describe({ east: served(pods(1)) }, { clusters }));
  expect(condition).toEqual({
    ...{ type: 'MissingInCluster', severity: 'info', clusters: ['north'] },
    message: 'does not exist in north',
  });
});

test('says what the loss of each cluster means', () => {
  const view = describe({ east: served(pods(2)), north: served(pods(1)), west: served(pods(5)), none: served([]) });
  expect(lossesOf(view)).toEqual([
    { cluster: 'west', clusterName: 'west', share: 5 / 8, loadFactor: 8 / 3 },
    { cluster: 'east', clusterName: 'east', share: 2 / 8, loadFactor: 8 / 6 },
    { cluster: 'north', clusterName: 'north', share: 1 / 8, loadFactor: 8 / 7 },
  ]);
  expect(lossesOf(describe({ east: served(pods(2)) }))).toMatchObject([{ share: 1, loadFactor: null }]);
});

test('a cluster that is left out counts for nothing', () => {
  const given = { east: served(pods(1)), west: served(pods(2)) };
  const without = new Set(['west']);
  expect(describe(given, { without }).endpoints.ready).toBe(1);
  expect(conditions(given, { without })).toEqual([['ServedByOneCluster', ['east']]]);
});

test('an unknown label of a Service is kept apart from its other fields', () => {
  const { differences } = describe({ a: served([], { labels: { v: '1' } }), b: served([], { labels: { v: '2' } }) });
  expect(differences.map(({ field }) => field)).toEqual(['labels']);
  expect(conditions({ a: { service: aService(), slices: new Map() } })).toEqual([['NotServed', ['a']]]);
});

test('says how each cluster serves a Service', () => {
  const clusters = ['all', 'some', 'none', 'external', 'away', 'left out'].map((name) =>
    cluster(name, name === 'away' ? now - 1 : null),
  );
  const without = new Set(['left out']);
  const view = describe(
    {
      all: served(pods(2)),
      some: served([...pods(2, false), endpoint('ready', true)]),
      none: served(pods(1, false)),
      external: { service: aService({ type: 'ExternalName', selector: null }), slices: new Map() },
      away: served(pods(1)),
      'left out': served(pods(1)),
    },
    { clusters, without },
  );
  expect(Object.fromEntries(servingStatesOf(view))).toEqual({
    ...{ all: 'served', some: 'partly', none: 'none', external: 'noneExpected', away: 'lost', 'left out': 'lost' },
  });
});

test('a cluster with only slices of a Service does not serve it', () => {
  const view = describe({ east: served(pods(1)), west: { ...served(pods(1)), service: null } });
  expect(Object.fromEntries(servingStatesOf(view))).toEqual({ east: 'served', west: 'missing' });
  expect(view.missing).toEqual(['west']);
});
