import type { Change } from '@sluice/messages';
import { aService } from '@sluice/model/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeService } from './describe-service.ts';
import { LogicalServices } from './logical-services.ts';
import { ClusterLog, endpoint, served, type TestEndpoint, type TestService } from './testing/cluster-log.ts';

const names = ['east', 'north', 'west'];
const clusters = names.map((name) => ({ identity: name, name, lost: null }));
const options = { clusters, policy: { action: 'keep', maxAgeMs: 0 }, now: 0 } as const;

function joined(logs: readonly ClusterLog[], nameLabel?: string): LogicalServices {
  const services = new LogicalServices({ nameLabel });
  for (const { key, message } of logs.flatMap(({ records }) => records)) services.apply(key, message, 0);
  return services;
}

const described = (services: LogicalServices) =>
  [...services.all].map((one) => describeService(one, options)).sort((a, b) => (a.name < b.name ? -1 : 1));

test('joins the Services of all clusters by namespace and name', () => {
  const [east, west] = [new ClusterLog('east'), new ClusterLog('west')];
  east.snapshot('web', served([endpoint('a'), endpoint('b', false)]));
  west.snapshot('web', served([endpoint('a', true, 'z')]));
  west.snapshot('cart', served([endpoint('c')]));
  const [cart, web] = described(joined([east, west]));
  expect(cart).toMatchObject({ name: 'cart', endpoints: { ready: 1, all: 1 }, missing: ['east', 'north'] });
  expect(web).toMatchObject({
    name: 'web',
    endpoints: { ready: 2, serving: 2, terminating: 0, all: 3 },
    missing: ['north'],
  });
  expect(web?.clusters.map(({ clusterName, endpoints }) => [clusterName, endpoints.ready, endpoints.all])).toEqual([
    ['east', 1, 2],
    ['west', 1, 1],
  ]);
  expect([...(web?.clusters[1]?.zones.keys() ?? [])]).toEqual(['z']);
});

test('a Pod in two slices counts once', () => {
  const east = new ClusterLog('east');
  const [a, b] = [endpoint('a', false), endpoint('b')];
  east.snapshot('web', {
    service: aService(),
    slices: new Map([
      ['web-1', [a, b]],
      ['web-2', [endpoint('a'), b]],
    ]),
  });
  expect(described(joined([east]))[0]?.endpoints).toEqual({ ready: 2, serving: 2, terminating: 0, all: 2 });
});

test('endpoints that no port leads to are not ready', () => {
  const east = new ClusterLog('east');
  east.snapshot('web', served([endpoint('a')]));
  const services = new LogicalServices();
  for (const { key, message } of east.records) {
    const facts = message.kind === 'change' ? message.facts : [];
    const withoutPorts = facts.map((fact) =>
      fact.kind === 'slice' && fact.slice ? { ...fact, slice: { ...fact.slice, ports: [] } } : fact,
    );
    services.apply(key, { ...message, facts: withoutPorts } as typeof message, 0);
  }
  expect(described(services)[0]?.endpoints).toEqual({ ready: 0, serving: 0, terminating: 0, all: 1 });
});

test('a label names a Service that has another name in its cluster', () => {
  const [east, west] = [new ClusterLog('east'), new ClusterLog('west')];
  east.snapshot('web', served([endpoint('a')]));
  west.snapshot('web-blue', served([endpoint('b')], { labels: { joined: 'web' } }));
  west.snapshot('web-green', served([endpoint('c')], { labels: { joined: 'web' } }));
  const services = joined([east, west], 'joined');
  expect(described(services)).toMatchObject([{ name: 'web', endpoints: { ready: 3 } }]);
  west.service('web-green', aService({ labels: {} }));
  expect(described(joined([east, west], 'joined'))).toMatchObject([
    { name: 'web', endpoints: { ready: 2 } },
    { name: 'web-green', endpoints: { ready: 1 } },
  ]);
});

test('the slices of a deleted Service are shown until they are gone, and do not count', () => {
  const east = new ClusterLog('east');
  east.snapshot('web', served([endpoint('a')]));
  east.service('web', null);
  const left = described(joined([east]))[0];
  expect(left).toMatchObject({
    endpoints: { all: 0 },
    clusters: [{ exists: false, counts: false, endpoints: { all: 1 } }],
  });
  east.slice('web', 'web-1', null);
  expect(joined([east]).size).toBe(0);
});

test('a Change of a Service of which nothing exists leaves nothing', () => {
  const services = new LogicalServices();
  const east = new ClusterLog('east');
  east.service('web', null);
  for (const { key, message } of east.records) services.apply(key, message, 0);
  expect(services.size).toBe(0);
  expect(services.lastChangeAt('east')).toBe(1);
});

test('the API server of each cluster is a Service of its own', () => {
  const services = new LogicalServices();
  const kubernetes: Change = {
    ...podChange,
    key: { ...podChange.key, namespace: 'default', service: 'kubernetes' },
    stamp: { epoch: 1, sequence: 1 },
    facts: [{ kind: 'service', service: aService() }],
  };
  services.apply('east/default/kubernetes', kubernetes, 0);
  expect(services.size).toBe(0);
  services.apply('east/shop/kubernetes', { ...kubernetes, key: { ...kubernetes.key, namespace: 'shop' } }, 0);
  expect(services.size).toBe(1);
});

test('a repeated removal forgets nothing that a later watcher has published', () => {
  const east = new ClusterLog('east');
  east.snapshot('web', served([endpoint('a')]));
  east.remove();
  const removal = east.records.at(-1);
  east.snapshot('web', served([endpoint('b')]));
  if (removal) east.records.push(removal);
  const services = joined([east]);
  expect(described(services)).toMatchObject([{ name: 'web', endpoints: { ready: 1 } }]);
  expect(services.lastChangeAt('east')).toBe(2);
});

test('clusters share equal specs, also if many others differ', () => {
  const logs = Array.from({ length: 30 }, (_, i) => new ClusterLog(`cluster-${i}`));
  for (const [i, log] of logs.entries()) {
    log.snapshot('web', served([endpoint('a')], { labels: { cluster: log.cluster } }));
    log.snapshot('cart', served([endpoint('a')], { labels: { half: String(i % 2) } }));
  }
  const services = joined(logs);
  const specs = (name: string) =>
    new Set([...(services.get('shop', name)?.members ?? [])].map((one) => one.service?.service));
  expect(specs('web').size).toBe(30);
  expect(specs('cart').size).toBe(2);
  const [cart, web] = described(services);
  expect(cart?.differences.map(({ values }) => values.length)).toEqual([2]);
  expect(web?.differences.map(({ values }) => values.length)).toEqual([30]);
});

test('the version changes with what is shown, and only then', () => {
  const services = new LogicalServices();
  const east = new ClusterLog('east');
  const version = () => {
    for (const { key, message } of east.records.splice(0)) services.apply(key, message, 0);
    return services.get('shop', 'web')?.version;
  };
  east.snapshot('web', served([endpoint('a')]));
  const first = version();
  east.slice('web', 'web-1', [endpoint('a', false)]);
  const second = version();
  expect(second).not.toBe(first);
  services.apply('east/shop/web', { ...podChange, stamp: { epoch: 1, sequence: 99 } }, 0);
  expect(version()).toBe(second);
});

const podChange = {
  kind: 'change',
  key: { cluster: 'east', namespace: 'shop', service: 'web' },
  facts: [{ kind: 'pod', name: 'a', pod: null, node: null }],
  causes: { first: [], more: 0 },
} as const;

/** Something that happens to the Service shop/web of a cluster. */
type Step =
  | { readonly kind: 'snapshot' | 'deleteService' | 'remove' }
  | { readonly kind: 'slice'; readonly slice: string; readonly endpoints: readonly TestEndpoint[] | null }
  | { readonly kind: 'service'; readonly port: number };

const endpoints = fc.array(
  fc.record({ pod: fc.constantFrom('a', 'b', 'c'), zone: fc.constant('z'), ready: fc.boolean() }),
  { maxLength: 3 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('snapshot' as const, 'deleteService' as const, 'remove' as const) }),
  fc.record({
    kind: fc.constant('slice' as const),
    slice: fc.constantFrom('web-1', 'web-2'),
    endpoints: fc.option(endpoints),
  }),
  fc.record({ kind: fc.constant('service' as const), port: fc.constantFrom(80, 81) }),
);

/** Publishes the steps as a watcher does, and returns what exists in the end; null: the fleet does not serve the cluster. */
function publish(log: ClusterLog, steps: readonly Step[]): TestService | null {
  let exists: TestService = { service: null, slices: new Map() };
  let isServed = true;
  log.snapshot('web', exists);
  for (const one of steps) {
    if (!isServed) log.snapshot('web', exists);
    isServed = one.kind !== 'remove';
    if (one.kind === 'remove') log.remove();
    if (one.kind === 'snapshot') log.snapshot('web', exists);
    if (one.kind === 'service' || one.kind === 'deleteService') {
      const port = one.kind === 'service' ? one.port : 0;
      const service =
        port === 0
          ? null
          : aService({ ports: [{ name: '', protocol: 'TCP', port, targetPort: 80, appProtocol: null }] });
      exists = { ...exists, service };
      log.service('web', service);
    }
    if (one.kind === 'slice') {
      const slices = new Map(exists.slices);
      if (one.endpoints === null) slices.delete(one.slice);
      else slices.set(one.slice, one.endpoints);
      exists = { ...exists, slices };
      log.slice('web', one.slice, one.endpoints);
    }
  }
  return isServed ? exists : null;
}

describe('whatever happens in the clusters, in whatever order it arrives', () => {
  const histories = fc.tuple(...names.map(() => fc.array(step, { maxLength: 8 })));

  test('each Pod of each cluster counts once, if its Service exists', () => {
    fc.assert(
      fc.property(histories, (given) => {
        const logs = names.map((name) => new ClusterLog(name));
        const truth = logs.map((log, i) => publish(log, given[i] ?? []));
        const expected = truth.map((one) => {
          const pods = new Set<string>();
          const ready = new Set<string>();
          for (const { pod, ready: isReady } of [...(one?.slices.values() ?? [])].flat()) {
            pods.add(pod);
            if (isReady) ready.add(pod);
          }
          return one?.service ? [pods.size, ready.size] : [0, 0];
        });
        const sum = (index: 0 | 1) => expected.reduce((all, one) => all + (one[index] ?? 0), 0);
        const found = described(joined(logs))[0]?.endpoints ?? { all: 0, ready: 0 };
        expect([found.all, found.ready]).toEqual([sum(0), sum(1)]);
      }),
    );
  });

  test('the join is the same', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(2), { maxLength: 60 }), (given, order) => {
        const logs = names.map((name) => new ClusterLog(name));
        for (const [i, log] of logs.entries()) publish(log, given[i] ?? []);
        const inTurn = described(joined(logs));
        const rest = logs.map(({ records }) => [...records]);
        const mixed = new LogicalServices();
        for (const i of [...order, ...names.flatMap((_, i) => rest[i]?.map(() => i) ?? [])]) {
          const next = rest[i]?.shift();
          if (next) mixed.apply(next.key, next.message, 0);
        }
        expect(described(mixed)).toEqual(inTurn);
      }),
    );
  });

  test('redeliveries change nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.nat(20), (given, again) => {
        const log = new ClusterLog('east');
        publish(
          log,
          given.filter(({ kind }) => kind !== 'remove'),
        );
        const repeated = [...log.records, ...log.records.slice(again)];
        const services = new LogicalServices();
        for (const { key, message } of repeated) services.apply(key, message, 0);
        expect(described(services)).toEqual(described(joined([log])));
      }),
    );
  });
});
