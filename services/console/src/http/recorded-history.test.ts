import { type Change, encodeMessage, type Message } from '@sluice/messages';
import type { Propagation, RecordedRange, Recording } from '@sluice/recording';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../client/console-client.ts';
import { pod, podChange, service, snapshot, topicOf } from '../testing/records.ts';
import { serveConsole } from '../testing/serve-console.ts';
import type { ServiceOutage } from '../view/schemas.ts';

const web = '/api/v1/services/prod/shop/web';
const ranges: RecordedRange[] = [];
const periods: object[] = [];
const queries: object[] = [];
const propagation = (key: string): Propagation => ({
  ...{ key, pod: 'web-1', place: 'slices', from: 'ready', to: 'not ready', event: 'Pod shop/web-1 became not ready' },
  ...{ startedAt: 10, isStartKnown: true, endedAt: null, end: null },
});
let records: (readonly [receivedAt: number, message: Message])[];

/** In memory, the history starts at 500 ms. */
const recording: Recording = {
  records: async (key, range) => {
    ranges.push(range);
    const own = key === 'cluster-uid/shop/web' || key === 'cluster-uid/shop/old' ? records : [];
    const until = own.filter(([at]) => at <= range.until);
    return {
      unreadable: ['a record is damaged'],
      records: until.map(([receivedAt, message]) => {
        return { topic: topicOf(message), receivedAt, startsSnapshot: false, payload: encodeMessage(message) };
      }),
    };
  },
  problems: async ({ isOpen, ...period }) => {
    periods.push(period);
    const web = { key: 'cluster-uid/shop/web', from: 0, to: null, isStartKnown: true, event: null };
    const noPods = { ...web, key: 'cluster-uid/pay/web', reason: 'NoMatchingPods', message: 'none', from: 2 } as const;
    return {
      unreadable: [],
      problems: [
        { ...web, reason: 'NoReadyEndpoints', message: '1 Pod: 1 not ready' },
        { ...web, reason: 'UnresolvedPort', message: 'no Pod has the container port', from: 9_000 },
        ...(isOpen ? [] : [{ ...web, reason: 'StaleMirror', message: 'differ', to: 40_000 } as const, noPods]),
        { ...web, key: 'other/shop/web', reason: 'NoReadyEndpoints', message: '1 Pod: 1 not ready' },
      ],
    };
  },
  managerChanges: async () => ({ services: [], unreadable: [] }),
  propagations: async (query) => {
    queries.push(query);
    return { unreadable: [], propagations: [propagation('cluster-uid/shop/web'), propagation('other/pay/web')] };
  },
  pods: async (key, asked) => {
    periods.push(asked);
    const one = (name: string, owner: string, from: number) => ({
      ...{ pod: name, owner, spans: [{ from, to: null, state: 'ready' as const }] },
    });
    const found = [
      one('new-2', 'ReplicaSet new', 60),
      one('old-1', 'ReplicaSet old', 20),
      one('new-1', 'ReplicaSet new', 50),
    ];
    return { from: 10, to: 100, pods: key === 'cluster-uid/shop/web' ? found : [], unreadable: [] };
  },
  readinessChanges: async (query) => {
    queries.push(query);
    return { unreadable: [], pods: [{ key: 'cluster-uid/shop/web', pod: 'web-1', changes: 7, firstAt: 1, lastAt: 5 }] };
  },
  nodeDisruptions: async (query) => {
    queries.push(query);
    const impact = {
      isStartKnown: true,
      pods: 4,
      onNode: 2,
      shown: 2,
      leftAfterMs: [40, 180],
      deleted: [],
      replaced: 0,
      outages: [],
    };
    const pay = { pods: 1, onNode: 1, shown: 1, leftAfterMs: [], outages: [{ from: 10, to: null }] };
    const services = [
      { key: 'cluster-uid/shop/web', ...impact },
      { key: 'cluster-uid/pay/web', ...impact, ...pay },
    ];
    const events = [{ at: 10, text: 'became not ready (NodeStatusUnknown)' }];
    const one = { cluster: 'cluster-uid', node: 'n1', from: 10, to: null, isDeleted: false, events, services };
    const isKnown = query.node === undefined || query.node === 'n1';
    return { isKnown, disruptions: isKnown && query.from < 100 ? [one] : [], unreadable: [] };
  },
  removals: async (query) => {
    queries.push(query);
    const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);
    return {
      unreadable: [],
      removals: new Map([
        ['cluster-uid/shop/web', [...times(98, 4), 900, 1_100]],
        ['cluster-uid/shop/db', [2_500, 1_200, 7]],
      ]),
    };
  },
  coverage: async () => ({
    periods: [
      { from: 100, to: 200 },
      { from: 300, to: 10_000 },
    ],
    gaps: [{ from: 200, to: 300 }],
    unreadable: ['b.sqlite is damaged'],
    isRedacted: false,
  }),
};

const caused = (change: Change, description: string, at: number): Change => ({
  ...change,
  causes: { first: [{ description, observedAt: at }], more: 0 },
});

const first = snapshot(1, 100, [service(), pod('web-1', { ready: false })]);
const startsHere = { first: true, last: true, resourceVersions: { endpoints: '1', endpointslices: '1' } };

beforeEach(() => {
  ranges.length = 0;
  records = [
    [100, { ...first, snapshot: { ...startsHere, initial: true } }],
    [150, caused(podChange(2, 150, pod('web-1', { ready: true })), 'Pod shop/web-1 became ready', 150)],
    [160, caused(podChange(3, 160, pod('web-1', { ready: false })), 'Pod shop/web-1 became not ready', 160)],
  ];
});

const open = () => serveConsole({ sources: { ...sourcesOf(), recording } });
const sourcesOf = () => ({
  clusters: () => [{ identity: 'cluster-uid', name: 'prod', version: '', server: '', state: 'synced' }],
});
const causesOf = ({ entries }: { readonly entries: readonly HistoryEntry[] }) =>
  entries.map(({ at, causes }) => [at, causes.first[0]?.description]);

describe('with a recording', () => {
  test('history from before the start of the process is read from it', async () => {
    const { json } = await open();
    const view = await json(`${web}/history?since=120&until=400`);
    expect(causesOf(view)).toEqual([
      [150, 'Pod shop/web-1 became ready'],
      [160, 'Pod shop/web-1 became not ready'],
    ]);
    expect(view).toMatchObject({
      since: 100,
      gaps: [{ from: 200, to: 300 }],
      unreadable: ['b.sqlite is damaged', 'a record is damaged'],
    });
    expect(ranges).toMatchObject([{ since: 120, records: 500 }]);
  });

  test('memory answers what it knows', async () => {
    const { json } = await open();
    expect((await json(`${web}/history?since=500`)).entries.length).toBeGreaterThan(0);
    expect((await json(`${web}/history?limit=1`)).entries).toHaveLength(1);
    expect((await json(`${web}?at=600`)).live).toBe(false);
    expect((await json(web)).live).toBe(true);
    expect(ranges).toEqual([]);
  });

  test('a past state is read from it', async () => {
    const { json } = await open();
    expect(await json(`${web}?at=155`)).toMatchObject({
      live: false,
      at: 155,
      pods: [{ pod: 'web-1', unready: null }],
    });
    expect(await json(`${web}/pods/web-1?at=165`)).toMatchObject({ pod: 'web-1', readinessChanges: 2 });
  });

  test('a Service that is not in memory is found in it', async () => {
    const { json, error } = await open();
    expect(await json('/api/v1/services/prod/shop/old/history')).toMatchObject({ total: 3 });
    expect(await json('/api/v1/services/prod/shop/old')).toMatchObject({ live: true });
    expect(await error('/api/v1/services/prod/shop/none/history')).toMatchObject([
      404,
      expect.any(String),
      expect.any(String),
    ]);
    expect(await error('/api/v1/services/prod/shop/none?at=100')).toMatchObject([
      404,
      expect.any(String),
      expect.any(String),
    ]);
  });

  test('a time before the first snapshot has no history', async () => {
    const { error } = await open();
    records = [];
    expect(await error(`${web}?at=50`)).toMatchObject([
      404,
      expect.stringContaining('no history at'),
      'request a later time',
    ]);
  });

  test('a recording that began later than the history in memory hides none of it', async () => {
    const { json } = await open();
    records = [];
    const known = causesOf(await json(`${web}/history?since=0`));
    expect(known.length).toBeGreaterThan(0);
    const snapshotAt = (at: number) =>
      caused({ ...first, snapshot: { ...startsHere, initial: false } }, 'snapshot', at);
    records = [[20_000, snapshotAt(20_000)]];
    expect(causesOf(await json(`${web}/history?since=0`))).toEqual(known);
    // What was recorded is not shown twice.
    records = [[100, snapshotAt(100)]];
    expect(causesOf(await json(`${web}/history?since=0`))).toEqual([]);
  });

  test('a snapshot that only continues the history is no entry', async () => {
    const { json } = await open();
    const again = { ...first, snapshot: { ...startsHere, initial: false } };
    records = [[100, again], ...records.slice(1)];
    expect(causesOf(await json(`${web}/history?until=400`)).map(([at]) => at)).toEqual([150, 160]);
    expect(causesOf(await json(`${web}/history?until=400`))).toHaveLength(2);
  });

  test('the history in memory is shown if the recording does not answer', async () => {
    const failing = () => Promise.reject(new Error('the thread has ended'));
    const failingRecording = { ...recording, records: failing, coverage: failing };
    const { json } = await serveConsole({
      sources: { ...sourcesOf(), recording: failingRecording },
    });
    const unreadable = ['the recording does not answer: the thread has ended'];
    expect(await json('/api/v1/overview')).toMatchObject({ since: 500, gaps: [], unreadable: unreadable });
    const view = await json(`${web}/history`);
    expect(view.unreadable).toEqual(unreadable);
    expect(view.total).toBeGreaterThan(0);
  });

  test('outages are those of a period, a cluster and a namespace', async () => {
    const { json } = await open();
    const { items } = await json('/api/v1/outages?since=5&until=9');
    expect(periods.at(-1), 'it may start as another problem').toEqual({ from: 0, to: 9 });
    expect(items[0]).toEqual({
      ...{ cluster: 'cluster-uid', clusterName: 'prod', namespace: 'shop', name: 'web', from: 0, to: null },
      ...{ isStartKnown: true, event: null, reason: 'NoReadyEndpoints', message: '1 Pod: 1 not ready' },
    });
    const found = async (query: string) =>
      (await json(`/api/v1/outages${query}`)).items.map(
        (one: ServiceOutage) => `${one.clusterName}/${one.namespace} ${one.from}`,
      );
    expect(await found('')).toEqual(['prod/shop 0', 'prod/pay 2', 'other/shop 0']);
    expect(await found('?cluster=prod&until=1')).toEqual(['prod/shop 0']);
    expect(await found('?cluster=cluster-uid&namespace=pay')).toEqual(['prod/pay 2']);
    expect(await found('?cluster=other')).toEqual(['other/shop 0']);
  });

  test('problems are counted by cluster and time, up to the end of the recording', async () => {
    const { json } = await open();
    const counts = await json('/api/v1/problem-counts?since=0&stepMs=5000');
    expect(counts).toMatchObject({ since: 0, until: 10_000, stepMs: 5_000 });
    // One has lasted longer than usual changes, and a Pod has just flapped.
    const cells = [
      { at: 0, critical: 0, warning: 1, info: 0 },
      { at: 5_000, critical: 0, warning: 2, info: 0 },
    ];
    expect(counts.clusters).toEqual([{ cluster: 'cluster-uid', clusterName: 'prod', cells }]);
    expect((await json('/api/v1/problem-counts?cluster=nowhere')).clusters).toEqual([]);
    const long = {
      ...recording,
      coverage: async () => ({ periods: [{ from: 0, to: 1e9 }], gaps: [], unreadable: [], isRedacted: false }),
    };
    const { error } = await serveConsole({ sources: { ...sourcesOf(), recording: long } });
    expect(await error('/api/v1/problem-counts?stepMs=1000')).toEqual([
      ...[400, 'more than 1000 buckets', 'ask for a shorter period, or set a larger stepMs'],
    ]);
  });

  test('problems are those at the end of the recording, or of a period', async () => {
    const { json } = await open();
    const found = async (query: string) =>
      (await json(`/api/v1/problems${query}`)).items.map(
        ({ namespace, name, reason }: { namespace: string; name: string; reason: string }) =>
          `${namespace}/${name} ${reason}`,
      );
    expect(await found('?open=true&all=true&cluster=prod')).toEqual([
      'shop/web LateChange',
      'shop/web NoReadyEndpoints',
      'shop/web UnresolvedPort',
      'shop/web Flapping',
    ]);
    expect(periods.at(-1)).toEqual({ from: 0, to: 10_000 });
    // Those that lasted no longer than usual changes do not count.
    expect(await found('?cluster=prod&until=9000')).toEqual(['shop/web StaleMirror']);
    expect(periods.at(-1)).toEqual({ from: 0, to: 9_000 });
    expect(await found('?cluster=nowhere')).toEqual([]);
  });

  test('a lost cluster is a problem of the present', async () => {
    const outage = { since: -60_000, reason: 'timeout' };
    const clusters = () => [
      { identity: 'cluster-uid', name: 'prod', version: '', server: '', state: 'not answering', outage },
    ];
    const { json } = await serveConsole({ sources: { clusters, recording } });
    const found = async (query: string) =>
      (await json(`/api/v1/problems${query}`)).items.filter(
        ({ reason }: { reason: string }) => reason === 'LostCluster',
      );
    expect(await found('?open=true&cluster=prod')).toEqual([
      {
        ...{ cluster: 'cluster-uid', clusterName: 'prod', namespace: '*', name: '*', reason: 'LostCluster' },
        ...{ message: 'not answering (timeout)', severity: 'warning', from: -60_000, to: null },
        ...{ isStartKnown: true, event: null },
      },
    ]);
    expect(await found('?open=true&namespace=shop')).toEqual([]);
    expect(await found('?until=9000')).toEqual([]);
  });

  test('rules decide which problems count, and how severe they are', async () => {
    const problemRules = [
      { reason: 'NoReadyEndpoints', severity: 'off' },
      { reason: 'UnresolvedPort', severity: 'info' },
    ] as const;
    const { json } = await serveConsole({ sources: { ...sourcesOf(), recording, problemRules } });
    const { items } = await json('/api/v1/problems?open=true&all=true&cluster=prod');
    expect(items.map(({ reason, severity }: { reason: string; severity: string }) => `${reason} ${severity}`)).toEqual([
      'LateChange critical',
      'Flapping warning',
      'UnresolvedPort info',
    ]);
  });

  test('a question is asked of the Services that the request names', async () => {
    const { json, error } = await open();
    const { items } = await json('/api/v1/propagations?cluster=prod&namespace=shop&until=9&open=true&atLeastMs=5');
    expect(queries.at(-1)).toEqual({
      ...{
        from: 0,
        to: 9,
        keys: 'cluster-uid/shop/%',
        atLeastMs: 5,
        isOpen: true,
        isStartKnown: false,
        sort: 'longest',
        limit: 20,
      },
    });
    const { key: _, ...found } = propagation('');
    expect(items).toEqual([{ cluster: 'cluster-uid', clusterName: 'prod', namespace: 'shop', name: 'web', ...found }]);
    await json('/api/v1/propagations?service=web');
    expect(queries.at(-1)).toMatchObject({ keys: '%/%/web', isOpen: false, to: Number.MAX_SAFE_INTEGER });
    expect((await error('/api/v1/propagations?open=perhaps'))[0]).toBe(400);
  });

  test('changes of readiness are those of Pods', async () => {
    const { json } = await open();
    expect((await json('/api/v1/readiness-changes?limit=3&since=2')).items).toMatchObject([
      { clusterName: 'prod', pod: 'web-1', changes: 7, lastAt: 5 },
    ]);
    expect(queries.at(-1)).toMatchObject({ from: 2, keys: '%/%/%', limit: 3 });
  });

  test('drains are summarized by Service, slowest first', async () => {
    const { json } = await open();
    const { items } = await json('/api/v1/drains?proxyDelayMs=3000');
    expect(items).toMatchObject([
      { name: 'db', removals: 3, p50Ms: 1_200, p99Ms: 2_500, maxMs: 2_500, neededSeconds: 6, gracePeriodSeconds: null },
      { name: 'web', removals: 100, p50Ms: 4, p99Ms: 900, maxMs: 1_100, neededSeconds: 4 },
    ]);
    expect((await json('/api/v1/drains')).items[1]).toMatchObject({ neededSeconds: 3 });
  });

  test('the disruption of a Node is summarized by Service, longest without a ready endpoint first', async () => {
    const { json, error } = await open();
    const { items } = await json('/api/v1/node-disruptions?node=n1&cluster=prod&limit=3');
    expect(queries.at(-1)).toEqual({
      ...{ from: 0, to: Number.MAX_SAFE_INTEGER, keys: 'cluster-uid/%/%', node: 'n1', limit: 3 },
    });
    expect(items).toMatchObject([
      {
        ...{ clusterName: 'prod', node: 'n1', from: 10, to: null, events: [{ at: 10 }] },
        services: [
          { namespace: 'pay', name: 'web', onNode: 1, left: 0, p50Ms: null, maxMs: null },
          { namespace: 'shop', name: 'web', onNode: 2, pods: 4, shown: 2, left: 2, p50Ms: 40, maxMs: 180 },
        ],
      },
    ]);
    expect((await json('/api/v1/node-disruptions?node=n1&since=100')).items).toEqual([]);
    expect((await json('/api/v1/node-disruptions')).items).toHaveLength(1);
    // A Pod is on it, but nothing happened to it.
    expect((await json('/api/v1/node-disruptions?node=node-a')).items).toEqual([]);
    const missing = [404, 'no Pod of a Service is or was on Node node-b'];
    expect(await error('/api/v1/node-disruptions?node=node-b')).toEqual([...missing, 'known: node-a']);
    const hint = 'no Pod of a Service is on a Node';
    expect(await error('/api/v1/node-disruptions?node=node-b&cluster=other')).toEqual([...missing, hint]);
  });

  test('the Pods of a Service are listed by their owner, in the order of their start', async () => {
    const { json, error } = await open();
    const { pods, from, to } = await json('/api/v1/services/prod/shop/web/rollout?since=5&until=100');
    expect(periods.at(-1)).toEqual({ from: 5, to: 100 });
    expect([from, to]).toEqual([10, 100]);
    expect(pods.map(({ pod: name }: { readonly pod: string }) => name)).toEqual(['old-1', 'new-1', 'new-2']);
    expect((await error('/api/v1/services/prod/shop/none/rollout')).slice(0, 2)).toEqual([
      404,
      'no Pods of shop/none are recorded in this period',
    ]);
  });

  test('the overview says what it covers', async () => {
    const { json } = await open();
    expect(await json('/api/v1/overview')).toMatchObject({
      ...{ since: 100, gaps: [{ from: 200, to: 300 }], recording: { from: 100, to: 10_000, isRedacted: false } },
    });
    const coverage = async () => ({ ...(await recording.coverage()), isRedacted: true });
    const redacted = await serveConsole({ sources: { ...sourcesOf(), recording: { ...recording, coverage } } });
    expect(await redacted.json('/api/v1/overview')).toMatchObject({ recording: { isRedacted: true } });
  });
});

test.each(['outages', 'propagations', 'readiness-changes', 'drains', 'node-disruptions'])(
  'without a recording there are no %s',
  async (question) => {
    const { error } = await serveConsole();
    expect(await error(`/api/v1/${question}`)).toEqual([
      ...[
        404,
        'this console has no recording',
        '"sluice observe" and "sluice open" have one, "sluice run" and "sluice console" with --recording-dir',
      ],
    ]);
  },
);
