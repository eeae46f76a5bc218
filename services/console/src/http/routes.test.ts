import type { Message } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import type { ConsoleSources } from '../ports.ts';
import { anOutcome, aPlan, pod, podChange, service, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { serveConsole } from '../testing/serve-console.ts';
import type { TraceView } from '../view/schemas.ts';

type TraceSource = NonNullable<ConsoleSources['trace']>;

const web = '/api/v1/services/prod/shop/web';
const slice = sliceOf('web-1', { version: '12', ready: true });

describe('the overview', () => {
  test('says what this console has and how current it is', async () => {
    const { json, history } = await serveConsole();
    expect(await json('/api/v1/overview')).toEqual({
      ...{ version: '0.1.0', now: 10_000, since: 500, retentionMs: 86_400_000, historyBytes: history.bytes, behind: 0 },
      ...{
        gaps: [],
        unreadable: [],
        recording: null,
        outage: null,
        storeProblems: [],
        fleet: false,
        jaeger: null,
        traces: false,
      },
      clusters: [
        {
          ...{ identity: 'cluster-uid', name: 'prod', version: 'v1.36.3', server: 'https://prod', state: 'synced' },
          services: 1,
        },
      ],
    });
  });

  test('names what a fleet has besides', async () => {
    const outage = { what: 'the store', since: 8_000, reason: 'connection refused' };
    const { json } = await serveConsole({
      sources: {
        ...{ clusters: () => [], outage: () => outage, storeProblems: () => ['Redis may evict'] },
        ...{ partitions: async () => [], trace: async () => null },
      },
      ...{ jaeger: 'https://jaeger/trace/{traceId}', behind: () => 3 },
    });
    expect(await json('/api/v1/overview')).toMatchObject({
      ...{ outage, storeProblems: ['Redis may evict'], fleet: true, traces: true, behind: 3 },
      jaeger: 'https://jaeger/trace/{traceId}',
      clusters: [
        { identity: 'cluster-uid', name: 'cluster-uid', version: '', server: '', state: 'unknown', services: 1 },
      ],
    });
  });

  test('counts the Services of each cluster', async () => {
    const { json, history } = await serveConsole();
    for (const name of ['shop/db', 'pay/web'])
      history.add('changes', 0, { ...toAppend(snapshot(1, 1_000, [])), key: `cluster-uid/${name}` });
    expect((await json('/api/v1/overview')).clusters).toMatchObject([{ name: 'prod', services: 3 }]);
  });
});

test('clusters that the fleet does not name are listed as long as one of their Services was not removed', async () => {
  const { json, history } = await serveConsole();
  const add = (key: string, message: Message) => history.add('changes', 0, { ...toAppend(message), key });
  for (const key of ['gone/shop/web', 'gone/shop/db', 'other/shop/web', 'other/shop/db'])
    add(key, snapshot(1, 1_000, [service()]));
  add('gone', { kind: 'clusterRemoved', cluster: 'gone', epoch: 1, removedAt: 9_000 });
  const listed = (await json('/api/v1/overview')).clusters;
  expect(listed.map((one: { name: string; services: number }) => `${one.name} ${one.services}`)).toEqual([
    'prod 1',
    'other 2',
  ]);
});

describe('a Service', () => {
  test('during an outage at a past time', async () => {
    const outage = { what: 'the bus', since: 8_000, reason: 'no answer' };
    const { json } = await serveConsole({ sources: { clusters: () => [], outage: () => outage } });
    const path = '/api/v1/services/cluster-uid/shop/web';
    expect(await json(`${path}?at=7999`)).toMatchObject({ live: false, outage: null });
    expect(await json(`${path}?at=8000`)).toMatchObject({ live: false, outage });
    expect(await json(`${path}/history`)).toMatchObject({ outage, since: 500, retentionMs: 86_400_000 });
  });

  test('at the current or a later time is live', async () => {
    const { json } = await serveConsole();
    expect(await json(`${web}?at=9999`)).toMatchObject({ live: false, at: 9_999 });
    expect(await json(`${web}?at=10000`)).toMatchObject({ live: true, at: 10_000 });
    expect(await json(`${web}?at=20000`)).toMatchObject({ live: true, at: 20_000 });
    expect(await json(web)).toMatchObject({ live: true, at: 10_000 });
    expect(await json(`${web}?at=500`)).toMatchObject({ live: false, slices: [] });
    expect(await json(`${web}?at=1020`)).toMatchObject({ pods: [{ lastChange: { at: 1_020 } }] });
    expect(await json(`${web}?at=1019`)).toMatchObject({ pods: [{ lastChange: null }] });
  });

  test('the history is limited to a period and to the entries of a Pod', async () => {
    const { json, add } = await serveConsole();
    add(podChange(3, 6_000, pod('web-2', {}), pod('web-3', {})));
    const times = async (query: string) =>
      (await json(`${web}/history?${query}`)).entries.map(({ at }: { at: number }) => at);
    expect(await times('since=1020&until=5001')).toEqual([1_020, 5_000, 5_001]);
    expect(await times('until=1010')).toEqual([1_000, 1_010]);
    expect(await times('pod=web-2')).toEqual([6_000]);
    expect(await times('pod=web-1')).toEqual([1_000, 1_010, 1_020, 5_000, 5_001, 5_004]);
    expect(await times('pod=web')).toEqual([]);
    expect(await times('limit=2')).toEqual([5_004, 6_000]);
    expect(await json(`${web}/history?limit=2`)).toMatchObject({ total: 7 });
  });
});

describe('the last writes', () => {
  /** Adds a write of a Service at this time. */
  const write = (history: Awaited<ReturnType<typeof serveConsole>>['history'], name: string, at: number) => {
    const key = { cluster: 'cluster-uid', namespace: 'shop', service: name };
    const messages: Message[] = [
      snapshot(1, at - 20, [service({ name })]),
      aPlan(1, at - 10, [{ verb: 'create', object: slice }]),
      anOutcome(1, at, at - 20, [{ verb: 'create', version: '12' }]),
    ];
    for (const message of messages)
      history.add(message.kind === 'mutations' ? 'mutations' : 'changes', 0, {
        ...toAppend({ ...message, key } as Message),
        key: `cluster-uid/shop/${name}`,
      });
  };

  test('of all Services are returned newest first', async () => {
    const { json, history, clock } = await serveConsole();
    write(history, 'db', 10_500);
    clock.step(11_000);
    write(history, 'cart', 3_000);
    const shown = async (query = '') =>
      (await json(`/api/v1/changes${query}`)).items.map(
        ({ at, name }: { at: number; name: string }) => `${name} ${at}`,
      );
    expect(await shown()).toEqual(['db 10500', 'web 5004', 'cart 3000', 'web 1020']);
    expect(await shown('?limit=2')).toEqual(['db 10500', 'web 5004']);
    expect(await shown('?limit=1')).toEqual(['db 10500']);
  });
});

describe('refused writes', () => {
  test('are those of the history without a store', async () => {
    const { json, add } = await serveConsole();
    expect(await json('/api/v1/parked')).toEqual({ items: [] });
    const refused = anOutcome(3, 6_000, 5_500, [{ verb: 'update', version: '13' }]);
    add(aPlan(3, 5_900, [{ verb: 'update', object: slice }]));
    add({ ...refused, status: 'rejected', results: [], message: 'denied by a webhook' });
    expect((await json('/api/v1/parked')).items).toMatchObject([
      {
        ...{ cluster: 'cluster-uid', clusterName: 'prod', namespace: 'shop', name: 'web', controller: 'endpointslice' },
        ...{ message: 'denied by a webhook', since: 6_000 },
      },
    ]);
    expect(await json(web)).toMatchObject({ summary: { status: 'refused' } });
  });

  test('are those of the store in a fleet, with the names of known clusters', async () => {
    const parked = (cluster: string) => ({
      ...{ name: `${cluster}/shop/web/endpoints`, key: { cluster, namespace: 'shop', service: 'web' } },
      ...{ controller: 'endpoints' as const, reason: 'denied', since: 7_000, nextTryAt: null },
      causes: { first: [], more: 0 },
    });
    const clusters = () => [{ identity: 'c1', name: 'west', version: '', server: '', state: '' }];
    const { json } = await serveConsole({ sources: { clusters, parked: async () => [parked('c1'), parked('c2')] } });
    const item = {
      namespace: 'shop',
      name: 'web',
      controller: 'endpoints',
      message: 'denied',
      since: 7_000,
      nextTryAt: null,
    };
    expect(await json('/api/v1/parked')).toEqual({
      items: [
        { ...item, cluster: 'c1', clusterName: 'west' },
        { ...item, cluster: 'c2', clusterName: 'c2' },
      ],
    });
  });
});

test('partitions and dead letters are those of the fleet', async () => {
  const share = { owner: 'reconciler-1', epoch: 3, lag: 2 };
  const partition = { partition: 0, ...share, writer: { ...share, owner: 'writer-1' } };
  const letter = {
    name: 'changes/0/7',
    topic: 'changes',
    key: 'c1/shop/web',
    clusterName: 'west',
    reason: 'r',
    at: 900,
  };
  const { json } = await serveConsole({
    sources: { clusters: () => [], partitions: async () => [partition], deadLetters: async () => [letter] },
  });
  expect(await json('/api/v1/partitions')).toEqual({ items: [partition] });
  expect(await json('/api/v1/dead-letters')).toEqual({ items: [letter] });
});

test('a single process has neither partitions nor dead letters', async () => {
  const { error } = await serveConsole();
  const hint = 'only a fleet has them; see sluice console --help';
  expect(await error('/api/v1/partitions')).toEqual([404, 'this console has no partitions', hint]);
  expect(await error('/api/v1/dead-letters')).toEqual([404, 'this console has no dead letters', hint]);
});

describe('a trace', () => {
  const id = 'a'.repeat(32);
  const view: TraceView = {
    ...{ traceId: id, startedAt: 1_000, durationMs: 2, cause: null, service: null, services: [], spent: [], spans: [] },
  };
  const path = `/api/v1/traces/${id}`;

  test('is read from Jaeger', async () => {
    const trace = async (wanted: string) => ({ ...view, traceId: wanted });
    const { json } = await serveConsole({ sources: { clusters: () => [], trace } });
    expect(await json(path)).toEqual(view);
  });

  test.each<[string, [number, string, string], TraceSource | undefined]>([
    ['there is no Jaeger', [404, 'this console shows no traces', 'pass --jaeger-query-url'], undefined],
    [
      'Jaeger does not have it',
      [
        ...([404, `Jaeger has no trace ${id}`] as const),
        'spans reach Jaeger one or two seconds after they end, and it deletes them after its retention',
      ],
      async () => null,
    ],
    [
      'Jaeger does not answer',
      [
        ...([502, 'cannot read the trace from Jaeger: no response within 10 s'] as const),
        'everything else works without Jaeger',
      ],
      () => Promise.reject(new Error('no response within 10 s')),
    ],
  ])('is not found if %s', async (_, expected, trace) => {
    const { error } = await serveConsole({ sources: { clusters: () => [], trace } });
    expect(await error(path)).toEqual(expected);
  });
});

test.each([
  ['limit', `${web}/history?limit=5001`],
  ['offset', '/api/v1/services?offset=-1'],
  ['status', '/api/v1/services?status=fine'],
  ['at', `${web}?at=1.5`],
  ['trace', '/api/v1/traces/x'],
])('an invalid %s is refused, with a hint where the parameters are described', async (name, path) => {
  const { error } = await serveConsole();
  const [status, message, hint] = await error(path);
  expect([status, String(message).split(':')[0], hint]).toEqual([400, name, 'see /api/v1/openapi.json']);
});
