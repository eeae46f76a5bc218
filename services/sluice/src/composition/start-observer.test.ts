import { History } from '@sluice/console';
import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { Cluster } from '@sluice/fleet/clusters';
import { chainReader, scopeReader } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { startObserver } from './start-observer.ts';

test('what two clusters do becomes history, also after one was removed, and nothing is written', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const history = new History({ clock });
  const synced: string[] = [];
  const observer = startObserver({
    ...{ history, clock, random: seededRandom(1), logger: silentLogger },
    onSynced: ({ name }) => void synced.push(name),
  });
  const servers = [1, 2].map((seed) => new FakeApiServer({ clock, random: seededRandom(seed) }));
  const stops = servers.map((server, i) => {
    server.create('namespaces', { metadata: { name: 'shop' } });
    const stop = new AbortController();
    const reader = new FakeClient(server, { clock, faults: new FaultPlan() });
    // Without a writer, whatever tried to write would throw.
    const cluster = { name: `c${i}`, identity: server.identity, reader } as unknown as Cluster;
    return { stop, done: observer.serve(cluster, stop.signal) };
  });
  const journals = () =>
    servers.map(({ identity }) => history.get({ cluster: identity, namespace: 'shop', service: 'web' }));
  const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
  for (const server of servers) server.create('services', { metadata: { name: 'web', namespace: 'shop' }, spec });
  await advance(clock, 1_000);
  expect(synced.sort()).toEqual(['c0', 'c1']);
  expect(journals().map((journal) => journal?.state.service?.name)).toEqual(['web', 'web']);

  const [first, second] = [servers[0] as FakeApiServer, servers[1] as FakeApiServer];
  stops[0]?.stop.abort('removed');
  await stops[0]?.done;
  await observer.removeCluster(first.identity);
  second.put('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { ...spec, selector: { app: 'shop' } },
  });
  await advance(clock, 1_000);
  const [removed, changed] = journals();
  expect(removed?.state.isRemoved).toBe(true);
  expect(removed?.entries).not.toEqual([]);
  expect(changed?.state.service?.selector).toEqual({ app: 'shop' });
  expect(servers.flatMap((server) => server.list('endpointslices').items)).toEqual([]);

  for (const { stop } of stops) stop.abort();
  await Promise.all(stops.map(({ done }) => done));
  await observer.close();
});

test('namespaces are watched on their own, also after the cluster was restored from a backup', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const history = new History({ clock });
  const synced: (string | undefined)[] = [];
  const observer = startObserver({
    ...{ history, clock, random: seededRandom(1), logger: silentLogger },
    onSynced: (_, namespace) => void synced.push(namespace),
  });
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  for (const namespace of ['shop', 'pay', 'dev']) {
    server.create('namespaces', { metadata: { name: namespace } });
    server.create('services', { metadata: { name: 'web', namespace }, spec: { ports: [{ port: 80 }] } });
  }
  const requested = new Set<string>();
  let pay = Promise.resolve();
  const readers = new Map(
    ['shop', 'pay'].map((namespace) => {
      const client = chainReader(new FakeClient(server, { clock }), async (request, next) => {
        if ('resource' in request) requested.add(request.resource);
        if (namespace === 'pay') await pay;
        return next(request);
      });
      const resources = new Set(['services', 'pods', 'endpoints', 'endpointslices'] as const);
      return [namespace, scopeReader({ ...client, resources }, { only: [namespace] })];
    }),
  );
  const stop = new AbortController();
  const cluster = { name: 'prod', identity: server.identity, readers } as unknown as Cluster;
  const running = observer.serve(cluster, stop.signal);
  const serviceOf = (namespace: string) =>
    history.get({ cluster: server.identity, namespace, service: 'web' })?.state.service;
  await advance(clock, 1_000);
  expect(synced.sort()).toEqual(['pay', 'shop']);
  expect(requested).toEqual(new Set(['services', 'pods', 'endpoints', 'endpointslices']));
  const journals = [...history.journals];
  expect(journals.map(({ key }) => key.namespace).sort()).toEqual(['pay', 'shop']);
  expect(journals.map(({ state }) => state.hasNodes)).toEqual([false, false]);

  expect(serviceOf('shop')?.name).toBe('web');

  const backup = server.backup();
  for (const namespace of ['shop', 'pay'])
    server.put('services', { metadata: { name: 'web', namespace }, spec: { ports: [{ port: 81 }] } });
  await advance(clock, 1_000);
  expect(serviceOf('pay')?.ports[0]?.port).toBe(81);
  // One finds out later, and has everything discarded once more.
  const answer = Promise.withResolvers<void>();
  pay = answer.promise;
  server.restore(backup);
  await advance(clock, 600_000);
  expect(serviceOf('shop')?.ports[0]?.port).toBe(80);
  answer.resolve();
  await advance(clock, 600_000);
  expect(['shop', 'pay'].map((namespace) => serviceOf(namespace)?.ports[0]?.port)).toEqual([80, 80]);

  stop.abort();
  await running;
  await observer.close();
});
