import { History } from '@sluice/console';
import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { Cluster } from '@sluice/fleet/clusters';
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
