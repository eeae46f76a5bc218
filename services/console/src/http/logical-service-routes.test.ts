import type { Change, Message } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { service, sliceFact, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { serveConsole } from '../testing/serve-console.ts';
import type { ClusterView } from '../view/schemas.ts';

const web = '/api/v1/logical-services/shop/web';
const outage = { since: 4_000, reason: 'timeout' };

const east = view('east');
const west = view('west');

function view(name: string, given: Partial<ClusterView> = {}): ClusterView {
  return { identity: `${name}-uid`, name, version: '', server: '', state: 'watched', ...given };
}

/** A console of two clusters that both have shop/web with one Pod. */
async function serveClusters(clusters: readonly ClusterView[] = [east, west], given: Partial<Change> = {}) {
  const lostClusters = { action: 'age-out', maxAgeMs: 600_000 } as const;
  const served = await serveConsole({ sources: { clusters: () => clusters }, lostClusters });
  const removed = { kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 9 } as const;
  served.history.add('changes', 0, { ...toAppend(removed), key: 'cluster-uid' });
  for (const cluster of ['east-uid', 'west-uid']) {
    const slice = sliceFact(sliceOf('web-1', { version: '7', ready: true }));
    const message: Message = { ...snapshot(1, 1_000, [service(), slice]), ...given };
    const keyed = { ...message, key: { ...message.key, cluster } } as Message;
    served.history.add('changes', 0, { ...toAppend(keyed), key: `${cluster}/shop/web` });
  }
  return served;
}

const one = { ready: 1, serving: 1, terminating: 0, all: 1 };

test('lists Services over all clusters', async () => {
  const { json } = await serveClusters();
  const { items, ...list } = await json('/api/v1/logical-services?namespace=shop&q=web');
  expect(list).toEqual({
    ...{ total: 1, counts: {}, lostClusters: { action: 'age-out', maxAgeMs: 600_000 } },
    clusters: [
      { cluster: 'east-uid', clusterName: 'east', lost: null },
      { cluster: 'west-uid', clusterName: 'west', lost: null },
    ],
  });
  expect(items).toMatchObject([{ namespace: 'shop', name: 'web', endpoints: { ready: 2 }, states: { served: 2 } }]);
  expect(items[0].clusters).toHaveLength(2);
});

test('lists Services without their clusters if there are more than wanted', async () => {
  const { json } = await serveClusters([east, view('west', { state: 'not answering', outage }), view('north')]);
  const list = async (maxClusters: number) => (await json(`/api/v1/logical-services?maxClusters=${maxClusters}`)).items;
  expect(await list(2)).toMatchObject([{ clusters: [], states: { served: 1, lost: 1, missing: 1 } }]);
  expect((await list(3))[0].clusters).toHaveLength(2);
});

test('shows a Service in each cluster, and what the loss of one means', async () => {
  const { json } = await serveClusters();
  const detail = await json(web);
  const [first] = detail.clusters;
  expect(first).toEqual({
    ...{
      cluster: 'east-uid',
      clusterName: 'east',
      name: 'web',
      exists: true,
      isComplete: true,
      ageMs: null,
      lostReason: null,
      counts: true,
    },
    ...{ endpoints: one, state: 'served', zones: [{ zone: 'a', ...one }] },
  });
  expect(detail.losses).toMatchObject([
    { clusterName: 'east', share: 0.5, loadFactor: 2 },
    { clusterName: 'west', share: 0.5, loadFactor: 2 },
  ]);
});

test('a cluster that does not answer counts for ten minutes, and its age grows', async () => {
  const { json, clock } = await serveClusters([east, view('west', { state: 'not answering', outage })]);
  const until = (time: number) => {
    while (clock.now() < time) clock.step(time);
  };
  const summary = async () => (await json('/api/v1/logical-services')).items[0];
  const west = async () =>
    (await summary()).clusters.find((cluster: { clusterName: string }) => cluster.clusterName === 'west');
  expect(await west()).toMatchObject({ ageMs: 6_000, lostReason: 'not answering', counts: true });
  expect((await summary()).conditions).toMatchObject([{ type: 'LostClusterCounts', clusters: ['west'] }]);
  until(604_000 - 1);
  expect(await west()).toMatchObject({ ageMs: 599_999, counts: true });
  until(604_000);
  expect(await west()).toMatchObject({ ageMs: 600_000, counts: false });
  expect((await summary()).conditions).toMatchObject([{ type: 'ServedByOneCluster', clusters: ['east'] }]);
});

test('a cluster that nobody watches is known up to its last Change', async () => {
  const { json } = await serveClusters([east, view('west', { state: 'not watched' })]);
  const { clusters } = await json('/api/v1/logical-services');
  expect(clusters[1]).toEqual({
    ...{ cluster: 'west-uid', clusterName: 'west' },
    lost: { since: 1_000, reason: 'not watched' },
  });
});

test('a cluster that the fleet does not name is known up to its last Change', async () => {
  const { json } = await serveClusters([east]);
  const { clusters } = await json('/api/v1/logical-services');
  expect(clusters[1]).toEqual({
    ...{ cluster: 'west-uid', clusterName: 'west-uid' },
    lost: { since: 1_000, reason: 'not watched' },
  });
});

test('nothing is known after the store or the bus stops answering', async () => {
  const sources = {
    clusters: () => [
      view('east', { state: 'unknown', watcher: { owner: 'watcher-1', epoch: 1 } }),
      view('west', { state: 'unknown' }),
    ],
    outage: () => ({ what: 'the bus', ...outage }),
  };
  const { json } = await serveConsole({ sources });
  const { clusters } = await json('/api/v1/logical-services');
  expect(clusters.slice(1)).toMatchObject([
    { clusterName: 'east', lost: { since: 4_000, reason: 'fleet not answering' } },
    // Nobody watched it before.
    { clusterName: 'west', lost: { since: 0, reason: 'not watched' } },
  ]);
});

test('a cluster whose watcher got no answer yet is known up to its last Change', async () => {
  const unanswered = { ...outage, neverAnswered: true };
  const { json } = await serveClusters([east, view('west', { state: 'not answering', outage: unanswered })]);
  const { clusters } = await json('/api/v1/logical-services');
  expect(clusters[1]).toMatchObject({ clusterName: 'west', lost: { since: 1_000, reason: 'not answering' } });
});

test('the last state of a recording counts', async () => {
  const { json } = await serveClusters([view('east', { state: 'recorded', outage: { ...outage, answers: false } })]);
  expect((await json('/api/v1/logical-services')).clusters[0]).toMatchObject({ lost: null });
});

test('a cluster may be left out', async () => {
  const { json, error } = await serveClusters();
  const { items, counts } = await json('/api/v1/logical-services?without=west&condition=ServedByOneCluster');
  expect(items).toMatchObject([{ endpoints: { ready: 1 }, conditions: [{ clusters: ['east'] }] }]);
  expect(counts).toEqual({ ServedByOneCluster: 1 });
  expect((await json(`${web}?without=west-uid`)).endpoints.ready).toBe(1);
  expect(await error(`${web}?without=north`)).toEqual([404, 'no cluster north', 'clusters: east, west']);
});

test('only Services with a condition as severe as asked for', async () => {
  const { json } = await serveClusters();
  const total = async (query: string) => (await json(`/api/v1/logical-services?${query}`)).total;
  expect(await total('severity=info')).toBe(0);
  expect(await total('without=west&severity=warning')).toBe(1);
  expect(await total('without=west&severity=critical')).toBe(0);
  expect(await total('without=west&condition=NotServed')).toBe(0);
});

test('a Service says under which name all clusters join it', async () => {
  const history = new History({ clock: new VirtualClock(0), serviceNameLabel: 'example.com/name' });
  const add = (name: string, labels: Record<string, string>) => {
    const { key, ...message } = snapshot(1, 1_000, [service({ labels })]);
    const keyed = { ...message, key: { ...key, service: name } };
    history.add('changes', 0, { ...toAppend(keyed as Message), key: `${key.cluster}/${key.namespace}/${name}` });
  };
  add('web', {});
  add('web-green', { 'example.com/name': 'web' });
  const { json } = await serveConsole({ history });
  expect((await json('/api/v1/services/prod/shop/web')).joinedAs).toBe('web');
  expect((await json('/api/v1/services/prod/shop/web-green')).joinedAs).toBe('web');
  expect((await json(web)).clusters).toHaveLength(2);
});

test('says that no cluster has a Service', async () => {
  const { error } = await serveClusters();
  expect(await error('/api/v1/logical-services/shop/cart')).toEqual([
    404,
    'no cluster has a Service shop/cart',
    undefined,
  ]);
});
